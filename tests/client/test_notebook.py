"""The client in a real notebook: a real kernel runs the cells and keeps their HTML."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
CELLS = [
    "from headwater import Client\nclient = Client()\nclient",
    'client.trace("kpi")',
    'client.lineage("d", direction="upstream").to_pandas().nodes',
    "client.failed_runs()",
    'client.root_cause("kpi")',
    'client.impact("a", {"type": "column_drop", "column": "total"})',
]
WRONG = 'client.trace("no-such-answer")'


def _cell(source: str) -> Any:
    return nbformat.v4.new_code_cell(source)  # type: ignore[no-untyped-call]


def outputs(cell: Any) -> dict[str, str]:
    """Return what a cell shows, by its media type."""
    (shown,) = [one for one in cell.outputs if one.output_type == "execute_result"]
    return dict(shown["data"])


@pytest.mark.filterwarnings("ignore")
def test_results_show_themselves(
    api: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_URL", api)
    monkeypatch.setenv("HEADWATER_API_KEY", keys["all"])
    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[_cell(source) for source in [*CELLS, WRONG]]
    )
    runner = NotebookClient(notebook, timeout=120, kernel_name="python3")
    with pytest.raises(CellExecutionError, match="no-such-answer"):
        runner.execute()
    client, trace, nodes, failures, causes, impact = (
        outputs(cell) for cell in notebook.cells[: len(CELLS)]
    )
    assert client == {"text/plain": f"Client('{api}')"}
    assert trace["text/plain"].startswith("<Trace of kpi: 1 sources")
    assert "<svg" in trace["text/html"]
    assert "<script" not in trace["text/html"]
    assert "dataframe" in nodes["text/html"]
    assert "load-2" in failures["text/html"]
    assert "<table>" in causes["text/html"]
    assert "mart" in impact["text/html"]
    assert keys["all"] not in json.dumps(notebook)
