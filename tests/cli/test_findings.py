"""The command `findings` on the real Neo4j: a table for people, JSON for programs, a code for CI."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.health.findings.models import Consumer, Tier
from tests.canonical import empty
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import answer, ds, job, run, write_events

pytestmark = pytest.mark.neo4j

FAILED = finding(
    episode("failed-run", job("load"), 10, 12, key="run:bad", error="[disk] full"),
    Tier.P1,
    owners=["[mia]"],
    datasets=1,
    answers=1,
    critical=1,
    consumers=[Consumer("answer:kpi", "ANSWER", ("team:sales",), is_critical=True)],
)
STALE = finding(episode("stale-dataset", ds("a"), 30, hours=24.5), Tier.P2, root=FAILED.id)
RESOLVED = finding(
    episode("row-count", ds("a"), 5, end=8, by="run:load-1", values=[{"rows": 1}]), Tier.P3
)


@pytest.fixture(scope="module")
def stored(database: Database) -> None:
    empty(database)
    write_events(database, run("load-1", "load", ["raw"], ["a"]), answer("kpi", "a", minute=5))
    save(database, [(FAILED, ["etl"]), (STALE, ["db"]), (RESOLVED, ["db"])])


@pytest.fixture(autouse=True)
def own_graph(stored: None, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def shown(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["findings", *arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def data(*arguments: str) -> Any:
    return json.loads(shown(*arguments, "--json"))


def test_a_list_for_people() -> None:
    header, first, second, *_ = shown().splitlines()
    assert header.split() == ["tier", "rule", "node", "since", "affected", "owners", "id"]
    assert first.split()[:4] == ["P1", "failed-run", "etl", "load"]
    assert "1 answer, 1 critical, 1 dataset" in first
    assert "[mia]" in first
    assert second.split()[:2] == ["P2", "stale-dataset"]
    assert "nobody" in second
    assert "resolved" in shown("--all").splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ((), ["stale-dataset", "failed-run"]),
        (("--all",), ["stale-dataset", "failed-run", "row-count"]),
        (("--rule", "failed-run"), ["failed-run"]),
        (("--tier", "p2"), ["stale-dataset"]),
        (("--urn", "load"), ["failed-run"]),
        (("--urn", ds("a"), "--all"), ["stale-dataset", "row-count"]),
        (("--owner", "[mia]"), ["failed-run"]),
        (("--namespace", "db"), ["stale-dataset"]),
        (("--first", "1"), ["stale-dataset"]),
    ],
)
def test_filters(arguments: tuple[str, ...], rules: list[str]) -> None:
    assert [one["rule"] for one in data(*arguments)["findings"]] == rules


def test_a_gate() -> None:
    assert "failed-run" in shown("--check", "--tier", "P1", code=1)
    assert "No findings." in shown("--check", "--tier", "P3")


def test_one_finding_for_people() -> None:
    printed = shown("show", FAILED.id)
    for words in (
        "P1 The newest run failed, and others use its data  etl  load",
        "open since 2026-01-01T00:10:00, last seen 2026-01-01T00:12:00",
        "error: [disk] full",
        "causes 1 other finding",
        "P2 stale-dataset  db  a  since 2026-01-01T00:30:00",
        "affected: 1 answer, 1 critical, 1 dataset",
        "kpi  critical  team:sales",
        "owned by [mia]",
        "what to do: /runbooks/failed-run",
    ):
        assert words in printed, printed
    caused = shown("show", STALE.id)
    assert "caused by" in caused
    assert "P1 failed-run  etl  load" in caused
    ended = shown("show", RESOLVED.id)
    assert "resolved 2026-01-01T00:08:00 since 2026-01-01T00:05:00  by load-1" in ended
    assert "rows 1" in ended


def test_one_finding_for_programs() -> None:
    found = data("show", FAILED.id)
    assert found["affected"]["consumers"] == [
        {"urn": "answer:kpi", "owners": ["team:sales"], "isCritical": True}
    ]
    assert [one["id"] for one in found["consequences"]] == [STALE.id]
    assert data("show", STALE.id)["cause"]["id"] == FAILED.id


def test_errors() -> None:
    with pytest.raises(QueryError, match="findings takes no argument 'list'"):
        shown("list")
    with pytest.raises(NotFoundError, match="there is no finding"):
        shown("show", "finding:mean:dataset:db:none@1")
    with pytest.raises(QueryError, match="there is no rule 'fialed-run'"):
        shown("--rule", "fialed-run")
