"""Fingerprints of data frames: the schema, the number of rows and nulls, and a hash of the content.

The hash does not depend on the order of the rows: it is the sum of the hashes of the rows, modulo
2**64. Equal frames have equal fingerprints, and so the output of one step is found again as the
input of another. PySpark is lazy: its frames are measured only if asked, because that runs the
plan once more; otherwise the hash of the plan stands for the content.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

COLUMNS_MAX = 200
_NAME_CHARACTERS_MAX = 200
_MODULUS = 2**64


@dataclass(frozen=True)
class Fingerprint:
    """What is known about the content of a data frame at one moment.

    `rows` and `nulls` are None if the frame was not measured. `content` is a hash of the rows in
    any order, or for an unmeasured PySpark frame of its plan. `columns` lists at most 200 columns
    with their types; `columns_count` counts all.
    """

    kind: str
    columns: tuple[tuple[str, str], ...]
    columns_count: int
    rows: int | None
    nulls: dict[str, int] | None = field(default=None, hash=False)
    content: str = ""

    @property
    def id(self) -> str:
        """Return a hash of the schema, the number of rows and the content."""
        text = repr((self.kind, self.columns, self.columns_count, self.rows, self.content))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint as the facet has it."""
        return {
            "fingerprint": self.id,
            "kind": self.kind,
            "columns": [{"name": name, "type": type} for name, type in self.columns],
            "columnsCount": self.columns_count,
            "rowCount": self.rows,
            "nullCounts": self.nulls,
            "contentHash": self.content,
        }


def is_frame(value: Any) -> bool:
    """Return True for a DataFrame of pandas or PySpark, without importing either."""
    return _kind(value) != ""


def _kind(value: Any) -> str:
    if type(value).__name__ != "DataFrame":
        return ""
    module = type(value).__module__
    for name in ("pandas", "pyspark"):
        if module == name or module.startswith(f"{name}."):
            return name
    return ""


def fingerprint(frame: Any, *, measure_spark: bool = False) -> Fingerprint:
    """Return the fingerprint of a data frame.

    Args:
        frame: A pandas or PySpark DataFrame.
        measure_spark: Run the plan of a PySpark frame, for its rows, nulls and content.

    Raises:
        TypeError: `frame` is no such frame.
    """
    kind = _kind(frame)
    if not kind:
        raise TypeError(f"`frame` must be a DataFrame of pandas or PySpark, not {type(frame)!r}")
    return _of_pandas(frame) if kind == "pandas" else _of_spark(frame, measure_spark)


def _of_pandas(frame: Any) -> Fingerprint:
    names = [_name(column) for column in frame.columns]
    types = [str(type) for type in frame.dtypes]
    counts = frame.isna().sum().tolist()
    nulls = {name: int(count) for name, count in zip(names, counts, strict=True) if count}
    return Fingerprint(
        "pandas",
        tuple(zip(names, types, strict=True))[:COLUMNS_MAX],
        len(names),
        len(frame),
        dict(list(nulls.items())[:COLUMNS_MAX]),
        _hash_of_rows(frame),
    )


def _hash_of_rows(frame: Any) -> str:
    import pandas

    if not len(frame) or not len(frame.columns):
        return f"{0:016x}"
    try:
        hashes = pandas.util.hash_pandas_object(frame, index=False, categorize=False)
    except (TypeError, ValueError):
        # Cells that are lists or dictionaries have no hash.
        hashes = pandas.util.hash_pandas_object(frame.astype(str), index=False, categorize=False)
    return f"{int(hashes.to_numpy().sum(dtype='uint64')) % _MODULUS:016x}"


def _of_spark(frame: Any, measure: bool) -> Fingerprint:
    fields = [(_name(name), type) for name, type in frame.dtypes]
    shown = tuple(fields[:COLUMNS_MAX])
    if not measure:
        plan = _plan_hash(frame)
        return Fingerprint("pyspark", shown, len(fields), None, None, plan)
    quoted = [f"`{name.replace('`', '``')}`" for name in frame.columns]
    nulls = [f"count_if({name} IS NULL) AS n{place}" for place, name in enumerate(quoted)]
    # A map has no hash; its text has one.
    hashed = [
        f"CAST({name} AS STRING)" if "map<" in type else name
        for name, (_, type) in zip(quoted, fields, strict=True)
    ]
    row_hash = f"xxhash64({', '.join(hashed)})" if hashed else "0L"
    total = f"CAST(sum(CAST({row_hash} AS DECIMAL(38, 0))) AS STRING) AS hash"
    row = frame.selectExpr("count(*) AS rows", total, *nulls).first()
    content = int(row["hash"] or 0) % _MODULUS
    counts = {name: int(row[f"n{place}"]) for place, (name, _) in enumerate(fields)}
    return Fingerprint(
        "pyspark",
        shown,
        len(fields),
        int(row["rows"]),
        {name: count for name, count in counts.items() if count},
        f"{content:016x}",
    )


def _plan_hash(frame: Any) -> str:
    return f"plan:{int(frame.semanticHash()) % 2**32:08x}"


def _name(column: Any) -> str:
    return str(column)[:_NAME_CHARACTERS_MAX]
