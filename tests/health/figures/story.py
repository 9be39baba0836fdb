"""The history behind the figures, worked out by hand; the time of the dashboards is `NOW`.

    raw -> load -> orders* -> build -> mart -> train -> model (a model)
                                       mart -> ship -> out (fails)
                                       mart <- best (answer)
    guess -> oracle (a model)       raw -> old -> archive       lone

`*` is certified, without an owner. Every run takes a minute.

| minute | run | what happens |
|---|---|---|
| 20 days before | o1 | old writes archive |
| 0 | r1 | load writes orders; the check not_null fails |
| 60 | r2 | load writes orders; not_null passes |
| 65 | r3 | load writes orders; the check positive fails |
| 70 | b1 | build writes mart; customer, personal data of orders, arrives unmasked |
| 75 | | the answer best cites mart |
| 80, 90 | t1, t2 | train writes two versions of model |
| 85 | g1 | guess writes oracle from nothing |
| 100 | bad | ship fails |
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from headwater.cypher.driver.database import Database
from tests.event_builders import dataset_event
from tests.run_builders import FACET, Event, answer, run, write_events

NOW = datetime(2026, 1, 3, tzinfo=UTC)
OLD_MINUTE = -20 * 24 * 60
_MODEL = {"datasetType": {**FACET, "datasetType": "MODEL"}}
_CUSTOMER = {
    "columnLineage": {
        **FACET,
        "fields": {
            "customer": {
                "inputFields": [
                    {
                        "namespace": "db",
                        "name": "orders",
                        "field": "customer",
                        "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                    }
                ]
            }
        },
    },
    "schema": {**FACET, "fields": [{"name": "customer", "type": "string"}]},
}


def write_story(database: Database, *, start: int = 0) -> None:
    """Fold the history into the graph; `start` is its minute 0, after 1 January 2026."""
    write_events(database, *history(start))


def recent_start(now: datetime) -> int:
    """Return the start with which the dashboards see at `now` what they saw at `NOW`."""
    return int((now - NOW).total_seconds() // 60)


def history(start: int = 0) -> list[list[Event]]:
    """Return the events of the history, run by run."""
    return [
        run("o1", "old", ["raw"], ["archive"], minute=start + OLD_MINUTE),
        _with_facets(run("r1", "load", ["raw"], ["orders"], minute=start), _check("not_null", False)),
        _with_facets(run("r2", "load", ["raw"], ["orders"], minute=start + 60), _check("not_null", True)),
        _with_facets(run("r3", "load", ["raw"], ["orders"], minute=start + 65), _check("positive", False)),
        [
            dataset_event(
                "orders",
                start + 66,
                {
                    "tags": {"tags": [
                        {"key": "certified", "value": "true"},
                        {"key": "pii", "value": "name", "field": "customer"},
                    ]},
                    "schema": {"fields": [{"name": "customer", "type": "string"}]},
                },
            )
        ],
        [dataset_event("lone", start + 67, {})],
        _with_facets(run("b1", "build", ["orders"], ["mart"], minute=start + 70), _CUSTOMER),
        answer("best", "mart", minute=start + 75, content="Ann bought most."),
        _with_facets(run("t1", "train", ["mart"], ["model"], minute=start + 80), _MODEL),
        _with_facets(run("g1", "guess", [], ["oracle"], minute=start + 85), _MODEL),
        _with_facets(run("t2", "train", ["mart"], ["model"], minute=start + 90), _MODEL),
        _critical(run("bad", "ship", ["mart"], ["out"], minute=start + 100, status="FAIL", error="full")),
    ]  # fmt: skip


def _check(name: str, success: bool) -> dict[str, Any]:
    assertions = [{"assertion": name, "success": success}]
    return {"dataQualityAssertions": {**FACET, "assertions": assertions}}


def _with_facets(events: list[Event], facets: dict[str, Any]) -> list[Event]:
    """Return the events with these facets of each output."""
    for event in events:
        for output in event["outputs"]:
            output["facets"] = {**output.get("facets", {}), **facets}
    return events


def _critical(events: list[Event]) -> list[Event]:
    for event in events:
        tags = [{"key": "tier", "value": "1", "source": "test"}]
        event["job"]["facets"] = {"tags": {**FACET, "tags": tags}}
    return events
