"""Findings disclose of hidden nodes neither a class of data, nor a number, nor a name.

Two graphs differ only in hidden nodes: how many read the visible datasets, which classes of data
the hidden columns have, which checks hidden jobs report. A restricted key gets the same answer to
every route and every root field over both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.alerts.current import current_alerts
from headwater.health.findings.detector import Detector
from headwater.health.findings.listing import count_findings, findings, findings_of
from headwater.health.findings.open_findings import open_findings_of
from headwater.lineage.hidden_nodes import stub_urn
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn, dataset_urn, job_urn, run_urn
from headwater.schema.visibility import Visibility
from tests.access.probes import Probe, field_probes, route_probes
from tests.access.test_policy_leaks import contract
from tests.access.worlds import VISIBLE, create_keys, sent, served, without_clock
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.event_builders import columns, dataset, dataset_event, run_event, schema
from tests.run_builders import Event, ds, job, write_events

pytestmark = pytest.mark.neo4j
VAULT = "vault"
SUBJECTS = (VISIBLE, replace(VISIBLE, urn=ds("e"), name="e", job="rep", run_id="rep-1"))
# A key sees these rules on the visible nodes, whatever is hidden.
SHOWN = {"contract-violation", "deprecated-source", "failed-check"}
HASHED = ("finding", "from", "to", "evidence", "root")


@dataclass(frozen=True)
class HiddenPart:
    """What the hidden nodes are like: their names, their number, and the classes of their data."""

    prefix: str
    number: int
    classes: tuple[str, ...]

    @property
    def urns(self) -> list[str]:
        """Return the urns that a caller could guess."""
        jobs = [job_urn(VAULT, f"{self.prefix}-{one}") for one in range(self.number)]
        names = (f"{self.prefix}-raw", "salaries")
        return [
            *jobs,
            *(dataset_urn(VAULT, name) for name in names),
            column_urn(VAULT, "salaries", "number"),
            run_urn(f"{self.prefix}-check"),
        ]


FEW = HiddenPart("solo", 1, ("swift",))
MANY = HiddenPart("aaaa", 25, ("giro", "postbox"))


def in_vault(event: Event) -> Event:
    event["job"]["namespace"] = VAULT
    return event


def tagged(*tags: tuple[str, str, str | None]) -> Event:
    return {
        "tags": {
            "tags": [
                {"key": key, "value": value, "source": "x"} | ({"field": field} if field else {})
                for key, value, field in tags
            ]
        }
    }


def failing(name: str) -> Event:
    checks = [{"assertion": "not_null", "column": "total", "success": False}]
    usage = {"dataQualityAssertions": {"assertions": checks}}
    return dataset(name, usage=usage, side="input")


def events(part: HiddenPart) -> list[Event]:
    """Return load -> a -> mart -> d, a model e of hidden data, and a hidden part."""
    deprecated = {"headwater_edits": {"deprecation": {"value": {"reason": "old"}}}}
    lineage = columns(score=[("salaries", "number"), ("salaries", "other")])
    for source in lineage["columnLineage"]["fields"]["score"]["inputFields"]:
        source["namespace"] = VAULT
    model = {"datasetType": {"datasetType": "MODEL"}, **schema(score="int"), **lineage}
    fields = zip(("number", "other"), part.classes, strict=False)
    salaries = tagged(*(("pii", one, field) for field, one in fields))
    raw = dataset(f"{part.prefix}-raw", schema(total="int"), namespace=VAULT)
    readers = [
        in_vault(run_event(f"{part.prefix}-run-{one}", minute=7, job=f"{part.prefix}-{one}",
                           inputs=["a", failing("e")]))
        for one in range(part.number)
    ]  # fmt: skip
    return [
        run_event("load-1", minute=1, job="load", outputs=[dataset("a", schema(total="int"))]),
        contract("a", "db"),
        dataset_event("a", 2, deprecated),
        dataset_event("d", 2, tagged(("certified", "true", None))),
        run_event("mart-1", minute=3, job="mart", inputs=["a"], outputs=["d"]),
        run_event("chk-1", minute=4, job="chk", inputs=[failing("a")]),
        in_vault(run_event("pay-1", minute=5, job="pay", outputs=[
            dataset("salaries", {**schema(number="string", other="string"), **salaries},
                    namespace=VAULT)])),
        run_event("rep-1", minute=6, job="rep", inputs=[dataset("salaries", namespace=VAULT)],
                  outputs=[dataset("e", model)]),
        *readers,
        in_vault(run_event("mix-1", minute=8, job=f"{part.prefix}-mix", inputs=[raw],
                           outputs=["d"])),
    ]  # fmt: skip


@pytest.fixture
def graph(database: Database) -> Iterator[Database]:
    yield database
    empty(database)


def restricted(database: Database) -> GraphView:
    return GraphView(database).visible_to(Visibility(("db", "etl")))


def answers(database: Database, server: Neo4jServer, home: Path, part: HiddenPart) -> Any:
    """Return what a key of `db` is answered over a graph with this hidden part."""
    keys, found = create_keys(home), {}
    with served(database, server, home, events(part)) as (app, client):
        Detector(database).full_pass()
        everything = sent(client, Probe("", "POST", "/graphql", {
            "query": "{ findings(first: 100) { nodes { id } } }"}), keys["read"])[1]  # fmt: skip
        for name in ("uncertified-input", "unmasked-personal-data", "failed-check:dataset:db:e"):
            assert f"finding:{name}" in everything
        ids = [f"finding:unmasked-personal-data:{ds('e')}@{one}" for one in part.classes]
        for id_ in ids:
            query = {"query": f'{{ finding(id: "{id_}") {{ id }} }}'}
            status, text = sent(client, Probe("", "POST", "/graphql", query), keys["db"])
            assert '"data":null' in text.replace(" ", "") or '"finding":null' in text, status
        for subject in SUBJECTS:
            for probe in [*route_probes(app, subject), *field_probes(subject, ("Query",))]:
                if probe.method == "GET" or probe.path == "/graphql":
                    status, text = sent(client, probe, keys["db"])
                    name = f"{probe.endpoint} about {subject.name}"
                    found[name] = status, without_clock(text)
    return found


def test_a_restricted_key_cannot_distinguish_findings_over_hidden_nodes(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    few = answers(graph, neo4j_server, tmp_path / "few", FEW)
    many = answers(graph, neo4j_server, tmp_path / "many", MANY)
    assert {name: (few[name], many[name]) for name in few if few[name] != many[name]} == {}
    guesses = {stub_urn(side, urn) for side in HASHED for part in (FEW, MANY) for urn in part.urns}
    words = {*FEW.classes, *MANY.classes, FEW.prefix, MANY.prefix, *guesses}
    assert {name for name, (_, text) in few.items() if any(word in text for word in words)} == set()
    assert sum(f"finding:failed-check:{ds('a')}" in text for _, text in few.values()) > 3


@pytest.mark.parametrize("part", [FEW, MANY])
def test_every_list_shows_the_same_findings(graph: Database, part: HiddenPart) -> None:
    empty(graph)
    write_events(graph, events(part))
    Detector(graph).full_pass()
    view = restricted(graph)
    listed = {one.id: one for one in findings(view).entries}
    assert {one.episode.rule for one in listed.values()} >= SHOWN
    assert {one.episode.rule for one in listed.values()}.isdisjoint({"unmasked-personal-data"})
    assert count_findings(view) == len(listed)
    nodes = {one.episode.subject for one in findings(GraphView(graph)).entries}
    of_nodes = [one.id for some in findings_of(view, nodes).values() for one in some]
    assert sorted(of_nodes) == sorted(listed)
    counted = open_findings_of(view, sorted(nodes)).values()
    assert sum(one.count for one in counted) == sum(one.is_open for one in listed.values())
    alerts = current_alerts(view, datetime.fromisoformat("2026-06-01T00:00:00+00:00"))
    assert {one.id for alert in alerts for one in alert.findings} <= listed.keys()
    for one in listed.values():
        if one.episode.rule in SHOWN:
            shown = [item for item in one.episode.evidence["readers"] if "hidden:" not in str(item)]
            stubs = len(one.episode.evidence["readers"]) - len(shown)
            name = "readerCount" if one.episode.rule != "deprecated-source" else "count"
            assert (one.episode.evidence[name], stubs) == (len(shown), 1), one
            names = [item["job"] if isinstance(item, dict) else item for item in shown]
            assert names == [job("chk"), job("mart")]
