"""Evidence without hidden nodes: one stub for all of them, and no number of them."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.health.findings.visible_evidence import evidence_stub, visible_evidence
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.view import GraphView
from headwater.schema.urns import job_urn
from headwater.schema.visibility import Visibility
from tests.health.findings.builders import episode
from tests.run_builders import ds, job

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]
OPEN = [job(f"open-{number:02d}") for number in range(22)]
HIDDEN = [job_urn("hidden", f"secret-{number:02d}") for number in range(25)]


def shown(view: GraphView, rule: str, **evidence: Any) -> tuple[dict[str, Any], str]:
    """Return the evidence that a caller of two namespaces sees, and the stub of the finding."""
    one = episode(rule, ds("a"), key="1", **evidence)
    restricted = view.visible_to(Visibility(("db", "etl")))
    hidden = find_hidden(restricted, [*OPEN, *HIDDEN, ds("b")])
    return visible_evidence(restricted, [one], hidden)[one.id], evidence_stub(one.id)


@pytest.mark.parametrize("number", [1, 3])
def test_hidden_readers_are_one_stub_at_the_end(view: GraphView, number: int) -> None:
    readers = [*HIDDEN[:number], OPEN[0], *HIDDEN[3:5], OPEN[1]]
    found, stub = shown(view, "failed-check", readers=readers, readerCount=len(readers))
    assert found == {"readers": [*OPEN[:2], stub], "readerCount": 2}


def test_readers_with_owners_are_counted_without_the_hidden_ones(view: GraphView) -> None:
    mine = {"job": OPEN[0], "owners": ["ann"]}
    readers = [{"job": urn, "owners": ["eve"]} for urn in HIDDEN[:2]]
    found, stub = shown(view, "deprecated-source", readers=[*readers, mine], count=3)
    assert found == {"readers": [mine, {"job": stub}], "count": 1}


def test_hidden_causes_are_not_counted(view: GraphView) -> None:
    causes = [{"dataset": urn, "reason": "late", "run": None} for urn in HIDDEN[:3]]
    mine = {"dataset": ds("b"), "reason": "late", "run": None}
    found, stub = shown(view, "stale-answer", causes=[*causes, mine], count=4)
    assert found == {"causes": [mine, {"dataset": stub}], "count": 2}


def test_hidden_nodes_in_a_row_on_a_path_are_one_stub(view: GraphView) -> None:
    path = [ds("a"), HIDDEN[0], HIDDEN[1], ds("b"), HIDDEN[2], job("x")]
    found, stub = shown(view, "unmasked-personal-data", path=path)
    assert found == {"path": [ds("a"), stub, ds("b"), stub, job("x")]}
