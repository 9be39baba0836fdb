"""How many findings of each node are open."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.models import Tier
from headwater.health.findings.open_findings import OpenFindings, open_findings_of
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import ds, job

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def test_only_open_findings_of_visible_nodes_count(database: Database, view: GraphView) -> None:
    save(
        database,
        [
            (finding(episode("mean", ds("a"), 1), Tier.P3), ["db"]),
            (finding(episode("row-count", ds("a"), 2), Tier.P2), ["db"]),
            (finding(episode("null-share", ds("a"), 3, end=4), Tier.P1), ["db"]),
            (finding(episode("failed-run", job("load"), 5), Tier.P1), ["etl"]),
        ],
    )
    urns = [ds("a"), ds("b"), job("load")]
    expected = {ds("a"): OpenFindings(2, "P2"), job("load"): OpenFindings(1, "P1")}
    assert open_findings_of(view, urns) == expected
    restricted = view.visible_to(Visibility(("db",)))
    assert open_findings_of(restricted, urns) == {ds("a"): OpenFindings(2, "P2")}
