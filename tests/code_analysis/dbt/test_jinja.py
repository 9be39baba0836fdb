"""dbt templates as SQL, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.code_analysis.dbt.jinja import render


@pytest.mark.parametrize(
    ("text", "rendered", "unknown"),
    [
        ("select * from {{ ref('pkg', 'a') }}", "select * from a", False),
        ("select * from {{ ref('a', v=2) }}", "select * from a", False),
        ("{% set t = 'orders' %}select * from {{ t }}", "select * from orders", False),
        ("select {{ dbt_utils.star(from=ref('a')) }} from a", "select * from a", False),
        (
            "select {{ dbt_utils.generate_surrogate_key(['x', 'y']) }} from a",
            "select concat(x, y) from a",
            False,
        ),
        ("select '{{ var('day') }}' from a", "select 'headwater_unknown' from a", False),
        ("select {{ cents('amount') }} from a", "select headwater_unknown from a", True),
        (
            "{% macro f(x) %}select {{ x }} from b{% endmacro %}select 1 from a",
            "select 1 from a",
            False,
        ),
        ("{% snapshot s %}select x from a{% endsnapshot %}", "select x from a", False),
        ("{% for m in ms %}{% if not loop.first %}, {% endif %}x{% endfor %}", "x", True),
        ("select {{ broken from a", "select {{ broken from a", True),
        ("{{ log('x') }}select 1 from a", "select 1 from a", False),
    ],
)
def test_jinja(text: str, rendered: str, unknown: bool) -> None:
    found = render(text)
    assert found.texts == [rendered]
    assert bool(found.unknown) is unknown
