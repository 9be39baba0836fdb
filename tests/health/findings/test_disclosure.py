"""Which nodes a finding discloses by its existence."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.health.findings.disclosure import disclosed_nodes, nodes_in_id
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.schema.urns import column_urn
from tests.health.findings.builders import episode
from tests.run_builders import ds, job, version

ANYTHING = [ds("a"), HIDDEN]


@pytest.mark.parametrize(
    ("id_", "nodes"),
    [
        (f"finding:failed-check:{ds('a')}@run:r1", [ds("a"), "run:r1"]),
        (f"finding:contract-violation:{ds('a')}@0a1b2c:run:r1", [ds("a"), "run:r1"]),
        (f"finding:uncertified-input:{ds('a')}@{ds('b')}", [ds("a"), ds("b")]),
        (f"finding:row-count:{ds('a')}@{version('a', 'r1')}", [ds("a"), version("a", "r1")]),
        (f"finding:schema-drift:{ds('a')}@schema:0a1b", [ds("a")]),
        (f"finding:failed-check:{ds('a')}@{ds('a')}@2026-01-01T00:00:00+00:00", [ds("a")]),
        (f"finding:stale-dataset:{ds('a')}@2026-01-01T00:00:00+00:00", [ds("a")]),
        # The runs of a job are its own, also if another team reports the same id.
        (f"finding:failed-run:{job('load')}@run:r1", [job("load")]),
        ("finding:clock-skew:producer:https%3A//spark@before", [HIDDEN]),
    ],
)
def test_an_id_names_its_subject_and_what_began_it(id_: str, nodes: list[str]) -> None:
    assert nodes_in_id(id_) == nodes


def test_a_class_is_that_of_the_first_column_of_the_path() -> None:
    start = column_urn("db", "raw", "mail")
    found = episode("unmasked-personal-data", ds("a"), key="mail", path=[start, ds("a")])
    assert disclosed_nodes(found) == [ds("a"), start]


@pytest.mark.parametrize(
    ("variables", "nodes"),
    [
        ({"node.owners": [], "approved": False}, [ds("a")]),
        ({"upstream.uncertified": [ds("b")]}, [ds("a"), ds("b")]),
        ({"upstream.inputs": [ds("b")] * 20}, ANYTHING),
        ({"downstream.nodes": 3}, ANYTHING),
        ({"consumers.active": 0}, ANYTHING),
        ({"personalData.unmasked": ["card"]}, ANYTHING),
    ],
)
def test_a_policy_discloses_the_nodes_that_it_reads(
    variables: dict[str, Any], nodes: list[str]
) -> None:
    assert disclosed_nodes(episode("policy-violation", ds("a"), variables=variables)) == nodes
