"""The kinds of files."""

from __future__ import annotations

import pytest

from headwater.code_analysis.definitions import kind_of, read_definitions
from headwater.code_analysis.model import CODE, UnreadableError
from headwater.gate.changes import find_changes
from tests.gate.files import one_file, problem


def test_a_macro_is_a_problem_and_a_file_of_no_interest_is_nothing() -> None:
    assert "only dbt knows" in problem("{% macro m() %} 1 {% endmacro %}", "macros/m.sql")[0]
    assert (
        find_changes([one_file("a", "b", "docs/x.yml"), one_file("a", "b", "data/x.csv")]).files
        == []
    )


def test_kinds_of_files() -> None:
    paths = {
        "shop/models/a.sql": "model",
        "snapshots/a.sql": "model",
        "macros/a.sql": "macro",
        "ddl/A.SQL": "sql",
        "models/a.yml": "schema",
        "seeds/a.csv": "seed",
        "a.csv": "",
        ".github/a.yml": "",
        "a.py": "python",
        "a.ipynb": "notebook",
    }
    assert {path: kind_of(path) for path in paths} == paths


def test_definitions_by_the_kind_of_file() -> None:
    model = read_definitions("models/m.sql", "select a from {{ ref('t') }}", "")
    assert (list(model.tables), list(model.tables["m"].columns)) == (["m"], ["a"])
    seed = read_definitions("seeds/s.csv", "id,name\n1,x\n", "")
    assert list(seed.tables["s"].columns) == ["id", "name"]
    script = read_definitions("j.py", "spark.table('t').select('a').write.saveAsTable('o')", "")
    assert script.tables["o"].kind == CODE
    assert read_definitions("docs/x.yml", "a: 1", "").tables == {}
    assert read_definitions(None, None, "").tables == {}


def test_a_template_outside_of_models_is_a_model_by_its_calls() -> None:
    text = "select a from {{ ref('t') }}"
    assert list(read_definitions("transform/m.sql", text, "").tables) == ["m"]
    assert read_definitions("tests/m.sql", text, "").tables == {}


def test_a_model_need_not_be_readable_if_its_name_is_enough() -> None:
    loop = "{% for x in xs %} select {{ x }} {% endfor %}"
    with pytest.raises(UnreadableError, match="only dbt knows"):
        read_definitions("models/m.sql", loop, "")
    (table,) = read_definitions("models/m.sql", loop, "", is_name_enough=True).tables.values()
    assert (table.name, table.is_open) == ("m", True)
