"""dbt templates as SQL, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.code_analysis.dbt.jinja import BRANCHES_MAX, MARKS_MAX, has_jinja, render
from headwater.code_analysis.steps import STEPS_MAX

PIECES = [
    *("{{ ref('a') }}", "{{ x }}", "{{ f(1) }}", "{{", "}}", "{# c\n #}", "select\n", "from t"),
    *("{% if a %}", "{% elif b %}", "{% else %}", "{% endif %}", "{% for x in y %}"),
    *("{% endfor %}", "{% set x = 't' %}", "{% snapshot s %}", "{% endsnapshot %}"),
    *("{% macro m() %}", "{% endmacro %}", "{%- raw -%}", "{% endraw %}"),
]


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


def test_each_branch_is_rendered_in_a_text_of_its_own() -> None:
    found = render("select {% if a %}x{% elif b %}y{% else %}z{% endif %} from t")
    assert found.texts == ["select x from t", "select y from t", "select z from t"]
    assert not found.unknown


def test_the_last_text_enters_no_condition() -> None:
    found = render("select a from t{% if is_incremental() %} where a > 1{% endif %}")
    assert found.texts == ["select a from t where a > 1", "select a from t"]


def test_lines_keep_their_numbers() -> None:
    text = (
        "{{\n  config(\n    enabled=true\n  )\n}}\n{#- a\nremark -#}\nselect a\n"
        "{%- if x %}\n, b\n{%- endif %}\nfrom t\n"
    )
    rows = render(text).texts[0].splitlines()
    assert (rows[7], rows[9], rows[11]) == ("select a", ", b", "from t")


def test_bodies_that_are_no_part_of_the_model_are_left_out() -> None:
    for tag in ("macro f(x)", "test unique(model)", "materialization m, default", "docs d"):
        name = tag.partition(" ")[0]
        found = render(f"{{% {tag} %}}select b from u{{% end{name} %}}select a from t")
        assert (found.texts, found.unknown) == (["select a from t"], {}), tag


def test_the_configuration_and_the_other_expressions_of_a_model() -> None:
    found = render(
        "{{ config(alias='orders', enabled=false, tags=[x]) }}"
        "select {{ cents('a') }} from {{ ref('t') }} where day = '{{ var(\"day\") }}'"
    )
    assert found.config == {"alias": "orders", "enabled": False}
    assert found.expressions == ["cents('a')", 'var("day")']
    assert found.is_model
    assert not render("select '{{ day }}' from t").is_model


def test_a_snapshot_has_a_name() -> None:
    found = render("{% snapshot orders_history %}select x from a{% endsnapshot %}")
    assert (found.snapshot, found.texts) == ("orders_history", ["select x from a"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{% for x in y %}a{% endfor %}", "a loop of Jinja is not run"),
        ("{% call f() %}a{% endcall %}", "a call of Jinja is not run"),
        ("select {{ a", "the Jinja cannot be read"),
        ("select {% if a %} b", "the Jinja cannot be read"),
        ("{{ a }}" * (MARKS_MAX + 1), "more than 2000 pairs"),
        ("{% if a %}{% elif b %}" + "{% elif c %}x" * BRANCHES_MAX + "{% endif %}", "branches"),
    ],
)
def test_parts_that_only_dbt_can_run_are_unresolved(text: str, reason: str) -> None:
    (unresolved,) = render(text).unresolved
    assert reason in unresolved


@pytest.mark.parametrize(
    "text",
    [
        f"{{% set x = '{'y' * 1_000}' %}}" + "{{ x }}" * 1_000,
        # A tenth of that in each of ten branches.
        f"{{% set x = '{'y' * 1_000}' %}}"
        + "{{ x }}" * 100
        + "{% if a %}0"
        + "".join(f"{{% elif b %}}{number}" for number in range(1, BRANCHES_MAX))
        + "{% endif %}",
        f"{{% set x = '{'y' * 1_000}' %}}" + "{% if a %}{{ x }}{% endif %}\n" * 600,
    ],
)
def test_all_texts_of_a_template_together_are_bounded(text: str) -> None:
    found = render(text)
    assert found.texts == []
    assert found.unresolved == ["the code takes more than 500000 steps to read"]
    assert sum(map(len, render(text.replace("y" * 1_000, "y" * 100)).texts)) < STEPS_MAX


@pytest.mark.parametrize(
    ("line", "is_unknown"), [("'a' {{ f() }}", True), ("'a {{ f() }}'", False), ("'\n'{{ x }}", 0)]
)
def test_an_expression_in_quotes_is_a_value(line: str, is_unknown: bool) -> None:
    assert bool(render(f"{{% set x = 1 %}}select {line} from t").unknown) is bool(is_unknown)


def test_text_without_closed_marks_has_no_jinja() -> None:
    assert has_jinja("select {{ a }}")
    assert has_jinja("{# a #}")
    assert not has_jinja("select '{{' from t")
    assert not has_jinja("select a from t")


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_template_is_rendered_or_unknown(pieces: list[str]) -> None:
    text = " ".join(pieces)
    found = render(text)
    assert found.texts or found.unknown
    for rendered in found.texts:
        assert rendered.count("\n") <= text.count("\n")
