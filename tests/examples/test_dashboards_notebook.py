"""The notebook of the dashboards, run by a real kernel against a live API, with known results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from headwater.cypher.driver.database import Database
from headwater.health.figures.definitions import FIGURES
from headwater.health.figures.snapshots import backfill, take_snapshot
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.keyed_api import api, home, keys
from tests.repo.repository import ROOT
from tests.run_builders import write_events
from tests.ui.on_call_stories import history

__all__ = ["api", "home", "keys"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
NOTEBOOK = ROOT / "examples" / "dashboards.ipynb"
# Appended to the notebook: what its frames hold, as JSON.
SHOWN = """
import json
print(json.dumps({
    "figures": dict(zip(figures.index, figures["value"].astype(object).where(figures["value"].notna(), None))),
    "trend": sorted(trend.columns),
    "pipelines": pipelines[["name", "failedRuns", "runs"]].values.tolist(),
    "failures": failures[["runId", "resolved", "datasets", "answers", "tell"]].values.tolist(),
    "changes": changes[["dataset.name", "differences"]].values.tolist(),
    "overdue": overdue[["run.pipelineName", "medianSeconds"]].values.tolist(),
    "models": len(models),
    "dataset": DATASET,
    "run": RUN,
    "up": bool(platform.loc["neo4jUp", 0]),
}))
"""


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    empty(database)
    write_events(database, *history())
    view = GraphView(database)
    backfill(view, 3)
    take_snapshot(view)
    yield database
    empty(database)


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_shows_what_the_page_shows(
    api: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_URL", api)
    monkeypatch.setenv("HEADWATER_API_KEY", keys["read"])
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "clear the outputs"
    notebook.cells.append(nbformat.v4.new_code_cell(SHOWN))  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = json.loads(notebook.cells[-1].outputs[0]["text"])
    assert set(shown["figures"]) == {one.title for one in FIGURES.values()}
    # Six datasets and jobs have lineage: raw, orders, report, pages, load_orders, make_report. The
    # jobs crawl, sum_up and child have no inputs.
    assert shown["figures"]["Lineage coverage"] == pytest.approx(6 / 9)
    assert "Lineage coverage" in shown["trend"]
    assert shown["pipelines"] == [["load_orders", 2, 4], ["crawl", 1, 2]]
    tell = ["team:insight", "team:orders"]
    assert shown["failures"] == [
        ["bad-2", False, ["orders", "report"], ["best-customer"], tell],
        ["bad-1", False, ["orders", "report"], ["best-customer"], tell],
        ["crawl-1", True, ["pages"], [], []],
    ]
    assert shown["changes"] == [["orders", ["added: customer"]]]
    assert shown["overdue"] == [["sum_up", 60.0]]
    assert (shown["models"], shown["run"], shown["up"]) == (0, "bad-2", True)
    assert shown["dataset"] == "db:raw"
    assert keys["read"] not in json.dumps(notebook)
