"""The kinds of files."""

from __future__ import annotations

from headwater.code_analysis.definitions import kind_of
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
