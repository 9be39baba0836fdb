"""Hidden nodes take no place of visible ones: each list is read with a limit that they would fill."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions import catalog, failed_checks, names, node_overviews, traces
from headwater.lineage.questions.assets import find_by_guid
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, facet, parent, run_event
from tests.run_builders import Event, at, ds, job, run_of, write_events

pytestmark = pytest.mark.neo4j
OURS = Visibility(("db", "etl"))
TRACE = "a" * 32
ALIAS = {"namespace": "db", "name": "zz-alias"}
COMPLETE: dict[str, Any] = {"states": ["COMPLETE"], "skip": 0, "limit": 10}
CHECK: Event = {
    "dataQualityAssertions": {"assertions": [{"assertion": "unique", "success": False}]}
}


def traced(*facets: Event) -> Event:
    found: Event = {"trace": facet(traceId=TRACE)}
    for one in facets:
        found |= one
    return found


def visible_events() -> list[Event]:
    checked = dataset("in", usage=CHECK, side="input")
    secret = dataset("a-secret", namespace="bank")
    return [
        dataset_event("only", 0, namespace="solo"),
        dataset_event("zz/ledger", 0),
        run_event("made", minute=1, job="make", outputs=["in"]),
        run_event("own", minute=2, job="own", inputs=[checked, secret], outputs=["out"],
                  facets=traced(parent("dag", "dag"))),
        run_event("part", minute=3, job="part", inputs=["out"], facets=parent("own", "own")),
        native.symlinks_event(
            {"namespace": "db", "name": "in"},
            same=[ALIAS, {"namespace": "bank", "name": "a-alias"}],
            event_time=at(4),
        ),
    ]  # fmt: skip


def hidden_events() -> list[Event]:
    """Return neighbours, parts, namesakes, traces and checks that sort before the visible ones."""
    found: list[Event] = []
    for number, letter in enumerate("abc"):
        name, minute = f"a-{letter}", 10 + number
        inside = run_event(
            name, "FAIL", minute - 9, job=name, inputs=["in", "out"], facets=parent("own", "own")
        )
        newer = run_event(
            f"new-{name}", minute=minute, job=name, outputs=["in", "out"], facets=traced()
        )
        for event in (inside, newer):
            event["job"]["namespace"] = "bank"
        ledger = {"namespace": "bank", "name": f"{letter}/ledger"}
        found += [
            inside,
            newer,
            dataset_event(ledger["name"], minute, CHECK, namespace="bank"),
            dataset_event("own", minute, namespace=f"bank-{letter}"),
            native.answer_event(f"{letter}/ledger", cites=[ledger], generated_at=at(minute)),
            native.answer_event(f"{letter}{letter}/ledger", cites=[]),
        ]
    both = run_event("both", "FAIL", 20, job="own")
    other = run_event("both", "START", 19, job="a-other")
    other["job"]["namespace"] = "bank"
    return [*found, other, both]


def links(view: GraphView, name: str, urn: str) -> dict[str, Any]:
    [row] = view.read(f"read/nodes/{name}", urns=[urn], limit=1, visible=view.visibility.regexes)
    return row


def answers(view: GraphView) -> dict[str, Any]:
    overviews = node_overviews.node_overviews(view, [ds("in"), ds("out"), job("own")])
    checks = failed_checks.failed_checks(view, failed_checks.FailedCheckFilter(), PageRequest(10))
    return {
        "ending": [one.urn for one in names.nodes_by_name(view, "ledger")],
        "name": [one.urn for one in names.nodes_by_name(view, "own", kinds=["JOB", "DATASET"])],
        "guid": find_by_guid(view.visible_to(Visibility(("solo",))), ""),
        "in": links(view, "dataset_links", ds("in")),
        "out": links(view, "dataset_links", ds("out")),
        "aliases": links(view, "dataset_aliases", ds("in")),
        "job": links(view, "job_links", job("own")),
        "run": links(view, "run_links", run_of("own")),
        "neighbours": {
            urn: (one.upstream_count, one.downstream_count) for urn, one in overviews.items()
        },
        "trace": traces.find_trace(view, TRACE),
        "traces": traces.newest_traces(view, 10),
        "checks": (checks.count, checks.truncated),
        "complete jobs": sorted(catalog.jobs_by_last_seen(view, **COMPLETE).urns),
        "complete jobs of etl": catalog.jobs_in_namespace(view, "etl", **COMPLETE),
    }


def test_hidden_nodes_fill_no_limit(
    database: Database, view: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "_READ_MAX", 1)
    monkeypatch.setattr(node_overviews, "NEIGHBOURS_MAX", 1)
    monkeypatch.setattr(traces, "RUNS_MAX", 1)
    monkeypatch.setattr(traces, "_RECENT_RUNS_MAX", 1)
    monkeypatch.setattr(failed_checks, "REPORTS_MAX", 2)
    empty(database)
    write_events(database, visible_events())
    ours = view.visible_to(OURS)
    before = answers(ours)
    assert (before["ending"], before["name"]) == ([ds("zz/ledger")], [job("own")])
    assert before["guid"] == "dataset:solo:only"
    assert (before["in"]["producers"], before["out"]["readers"]) == ([job("make")], [job("part")])
    assert before["aliases"]["names"] == [ALIAS]
    assert before["job"]["inputs"] == [ds("in")]
    assert (before["job"]["parents"], before["job"]["children"]) == ([job("dag")], [job("part")])
    assert before["run"]["children"] == [run_of("part")]
    assert (before["trace"].runs, before["trace"].truncated) == ([run_of("own")], False)
    assert [one.trace_id for one in before["traces"]] == [TRACE]
    assert before["checks"] == (1, False)
    write_events(database, hidden_events())
    after = answers(ours)
    different = {
        name: (before[name], after[name]) for name in before if before[name] != after[name]
    }
    assert different == {}
    empty(database)
