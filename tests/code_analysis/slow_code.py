"""SQL that takes seconds to read, within the bounds on its length and steps."""

from __future__ import annotations

_BRANCHES = "".join(f"{{% elif b{number} %}}{number}" for number in range(8))
_COLUMNS = ",".join(f"c{number}+d{number} as e{number}" for number in range(2_300))
# It is read once for each of ten branches.
SLOW_SQL = f"select {{% if a %}}9{_BRANCHES}{{% else %}}10{{% endif %}}, {_COLUMNS} from t"
