"""Data frames and HTML of results: hostile names stay text, pandas is needed for frames only."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from headwater.client import frames
from headwater.client.records import Node, Run
from headwater.client.results import Lineage, Table
from headwater.errors import QueryError

HOSTILE = "<script>alert(1)</script>"
LINEAGE = Lineage(
    starts=("dataset:db:x",),
    nodes=(Node(urn="dataset:db:x", kind="DATASET", name=HOSTILE),),
    edges=(),
    truncated=False,
)


def test_hostile_names_are_escaped() -> None:
    table = Table(("name", "other"), ({"name": HOSTILE, "other": None},))
    for html in (table._repr_html_(), LINEAGE._repr_html_()):
        assert "<script" not in html
        assert "&lt;script" in html
    assert "<th>other</th>" not in table._repr_html_()


def test_long_tables_are_cut_in_html_only() -> None:
    rows = tuple({"n": number} for number in range(200))
    table = Table(("n",), rows)
    html = table._repr_html_()
    assert html.count("<tr>") == frames.HTML_ROWS_MAX + 1
    assert f"and {200 - frames.HTML_ROWS_MAX} more rows" in html
    assert len(table.to_pandas()) == 200


def test_an_empty_frame_has_its_columns() -> None:
    frame = frames.to_frame([], Run)
    assert len(frame) == 0
    assert {"run_id", "pipeline_name", "started_at"} <= set(frame.columns)


def test_a_style_holds_for_the_picture_only() -> None:
    style = LINEAGE._repr_html_().partition("<style>")[2].partition("</style>")[0]
    assert all(rule.startswith(".headwater-lineage ") for rule in style.split("}") if rule)


def test_a_large_lineage_is_drawn_in_part() -> None:
    nodes = tuple(Node(urn=f"dataset:db:{n}", kind="DATASET", name=str(n)) for n in range(400))
    html = Lineage(starts=(), nodes=nodes, edges=(), truncated=False)._repr_html_()
    assert html.count("<rect") == 300
    assert "nearest 300 nodes" in html


def test_without_pandas_only_frames_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return original(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(QueryError, match="needs pandas") as error:
        LINEAGE.to_pandas()
    assert error.value.hint == "pip install pandas"
    assert "<svg" in LINEAGE._repr_html_()
