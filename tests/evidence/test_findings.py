"""The findings in an evidence pack, on a small graph worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.evidence.digest import add_digest
from headwater.evidence.pack import build_pack
from headwater.evidence.page import page_differences, render_page
from headwater.health.findings.models import Tier
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import answer, ds, job, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FAILED = finding(episode("failed-run", job("load"), 10, error="<b>disk</b>"), Tier.P1)
STALE = finding(episode("stale-answer", "answer:kpi", 30), Tier.P2, root=FAILED.id)
DOWN = finding(episode("mean", ds("end"), 30), Tier.P2)


def test_findings_of_the_node_and_upstream(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"]),
        run("next-1", "next", ["a"], ["end"], minute=3),
        answer("kpi", "a", minute=5),
    )
    save(database, [(FAILED, ["etl"]), (STALE, ["db"]), (DOWN, ["db"])])
    pack = build_pack(view, "answer:kpi", at=NOON)
    assert [(one["urn"], one["rule"], one["root"]) for one in pack["findings"]] == [
        ("answer:kpi", "stale-answer", FAILED.id),
        (job("load"), "failed-run", FAILED.id),
    ]
    assert pack["findings"][1]["evidence"] == {"error": "<b>disk</b>"}
    assert pack["findings"][1]["firstSeen"] == "2026-01-01T00:10:00Z"
    document = add_digest(pack)
    page = render_page(document)
    assert "Findings of the node and upstream" in page
    assert "<b>disk</b>" not in page
    assert page_differences(page) == []
    hidden = build_pack(view.visible_to(Visibility(("db",))), "answer:kpi", at=NOON)
    assert [one["rule"] for one in hidden["findings"]] == ["stale-answer"]
    assert [one["rule"] for one in build_pack(view, job("load"), at=NOON)["findings"]] == [
        "failed-run"
    ]
