"""Findings over GraphQL, with hand-worked results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.models import Consumer, Tier
from tests.graphql.conftest import Ask
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import answer, ds, job, run, write_events

pytestmark = pytest.mark.neo4j

FAILED = finding(
    episode("failed-run", job("load"), 10, 12, key="run:bad", error="disk full"),
    Tier.P1,
    owners=["team:load"],
    datasets=2,
    jobs=1,
    answers=1,
    critical=1,
    consumers=[
        Consumer("answer:report", "ANSWER", ("team:sales",), is_critical=True),
        Consumer(ds("b"), "DATASET", (), is_critical=False),
    ],
)
STALE = finding(
    episode("stale-dataset", ds("b"), 30, key="2026-01-01", hours=24), Tier.P2, root=FAILED.id
)
RESOLVED = finding(
    episode("row-count", ds("a"), 5, end=8, key="run:old", by="run:good", value=1), Tier.P3
)


@pytest.fixture
def stored(clean_graph: None, database: Database) -> None:
    del clean_graph
    write_events(
        database,
        run("good", "load", [], ["a"]),
        run("build", "build", ["a"], ["b"], minute=3),
        answer("report", "b", minute=5),
    )
    save(database, [(FAILED, ["etl"]), (STALE, ["db"]), (RESOLVED, ["db"])])


@pytest.mark.usefixtures("stored")
def test_findings(data: Ask) -> None:
    query = """{ findings { totalCount edges { node { id rule title severity urn firstSeen lastSeen
      resolvedAt resolvedBy evidence root owners runbook node { kind name } cause { id } affected {
        datasets jobs answers critical truncated consumers { urn owners isCritical node { name } }
      } } } } }"""
    found = data(query)["findings"]
    assert found["totalCount"] == 3
    stale, failed, resolved = (edge["node"] for edge in found["edges"])
    assert failed == {
        "id": f"finding:failed-run:{job('load')}@run:bad",
        "rule": "failed-run",
        "title": "The newest run failed, and others use its data",
        "severity": "P1",
        "urn": job("load"),
        "firstSeen": "2026-01-01T00:10:00Z",
        "lastSeen": "2026-01-01T00:12:00Z",
        "resolvedAt": None,
        "resolvedBy": None,
        "evidence": {"error": "disk full"},
        "root": FAILED.id,
        "owners": ["team:load"],
        "runbook": "/runbooks/failed-run",
        "node": {"kind": "JOB", "name": "load"},
        "cause": None,
        "affected": {
            "datasets": 2,
            "jobs": 1,
            "answers": 1,
            "critical": 1,
            "truncated": False,
            "consumers": [
                {
                    "urn": "answer:report",
                    "owners": ["team:sales"],
                    "isCritical": True,
                    "node": {"name": "report"},
                },
                {"urn": ds("b"), "owners": [], "isCritical": False, "node": {"name": "b"}},
            ],
        },
    }
    assert stale["cause"] == {"id": FAILED.id}
    assert (resolved["resolvedAt"], resolved["resolvedBy"]) == ("2026-01-01T00:08:00Z", "run:good")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("open: true", ["stale-dataset", "failed-run"]),
        ("open: false", ["row-count"]),
        ('rule: "failed-run"', ["failed-run"]),
        ("tier: P3", ["row-count"]),
        (f'urn: "{ds("b")}"', ["stale-dataset"]),
        ('owner: "team:load"', ["failed-run"]),
        ('namespace: "db"', ["stale-dataset", "row-count"]),
        (f'root: "{FAILED.id}"', ["stale-dataset", "failed-run"]),
        ('since: "2026-01-01T00:09:00Z"', ["stale-dataset", "failed-run"]),
        ('until: "2026-01-01T00:10:00Z"', ["row-count"]),
        ("first: 1", ["stale-dataset"]),
        ("last: 1", ["row-count"]),
    ],
)
def test_filters(data: Ask, arguments: str, expected: list[str]) -> None:
    found = data(f"{{ findings({arguments}) {{ nodes {{ rule }} }} }}")["findings"]["nodes"]
    assert [one["rule"] for one in found] == expected


@pytest.mark.usefixtures("stored")
def test_an_unknown_rule_is_refused(refused: Ask) -> None:
    error = refused('{ findings(rule: "fialed-run") { totalCount } }')
    assert error["message"] == "there is no rule 'fialed-run'"
    assert "failed-run" in error["extensions"]["hint"]


@pytest.mark.usefixtures("stored")
def test_one_finding(data: Ask, missing: Callable[[str], None]) -> None:
    query = "query ($id: ID!) { finding(id: $id) { rule } node(id: $id) { __typename id } }"
    assert data(query, id=STALE.id) == {
        "finding": {"rule": "stale-dataset"},
        "node": {"__typename": "Finding", "id": STALE.id},
    }
    missing('{ finding(id: "finding:failed-run:job:etl:none@x") { rule } }')
    missing('{ node(id: "finding:failed-run:job:etl:none@x") { id } }')


@pytest.mark.usefixtures("stored")
def test_findings_of_nodes(data: Ask) -> None:
    query = f"""{{ dataset(urn: "{ds("a")}") {{ findings {{ rule }} open: findings(open: true) {{ rule }} }}
      job(urn: "{job("load")}") {{ findings {{ rule }} }}
      answer(answerId: "report") {{ findings {{ rule }} }}
      lineage(urn: "{ds("b")}", direction: UPSTREAM) {{ nodes {{ name findings(open: true) {{ severity }} }} }} }}"""
    found: dict[str, Any] = data(query)
    assert found["dataset"] == {"findings": [{"rule": "row-count"}], "open": []}
    assert found["job"] == {"findings": [{"rule": "failed-run"}]}
    assert found["answer"] == {"findings": []}
    severities = {node["name"]: node["findings"] for node in found["lineage"]["nodes"]}
    assert severities == {
        "a": [],
        "b": [{"severity": "P2"}],
        "build": [],
        "load": [{"severity": "P1"}],
    }
