"""What happens in the shop, as plans of runs and deliveries that problems and changes edit.

`Plan.events` turns the plan into OpenLineage events, each with the time at which it is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from headwater.schema import headwater_facets as native
from tests.run_builders import FACET, Event

DAYS = 30
# Day 1 is Monday, 2 March 2026; day 30 is Tuesday, 31 March. Summer time begins on day 28.
_DAY_ZERO = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def at(day: int, time: str) -> datetime:
    """Return an instant of a day of the history: `at(1, "02:00")`, in UTC."""
    parts = [int(part) for part in time.split(":")]
    hour, minute, second = (*parts, 0)[:3]
    return _DAY_ZERO + timedelta(days=day, hours=hour, minutes=minute, seconds=second)


def text(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"


class Sent(NamedTuple):
    """An event, and when it arrives."""

    at: datetime
    event: Event


@dataclass
class Output:
    """A dataset that a run writes, with what the run reports about it."""

    name: str
    schema: dict[str, str] = field(default_factory=dict)
    # Column -> [(dataset, column)].
    sources: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    rows: int | None = None
    # Column -> measures, as in the facet dataQualityMetrics.
    measures: dict[str, dict[str, float]] = field(default_factory=dict)
    facets: Event = field(default_factory=dict)

    def as_dataset(self, *, is_complete: bool) -> Event:
        facets = dict(self.facets)
        if self.schema:
            facets["schema"] = {
                "fields": [{"name": name, "type": type} for name, type in self.schema.items()]
            }
        if self.sources:
            facets["columnLineage"] = {
                "fields": {
                    column: {
                        "inputFields": [
                            {"namespace": "db", "name": name, "field": source}
                            for name, source in pairs
                        ]
                    }
                    for column, pairs in self.sources.items()
                }
            }
        if is_complete and self.measures:
            facets["dataQualityMetrics"] = {
                "rowCount": self.rows,
                "columnMetrics": self.measures,
            }
        found: Event = {"namespace": "db", "name": self.name, "facets": with_heads(facets)}
        if is_complete and self.rows is not None:
            found["outputFacets"] = with_heads({"outputStatistics": {"rowCount": self.rows}})
        return found


@dataclass
class Run:
    """A run of a job."""

    job: str
    id: str
    start: datetime
    minutes: float = 5
    # None for a run that sends no end.
    status: str | None = "COMPLETE"
    inputs: list[str | Event] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    error: str | None = None
    sql: str | None = None
    version: str | None = None
    owner: str | None = None
    parent: tuple[str, str] | None = None
    job_facets: Event = field(default_factory=dict)
    run_facets: Event = field(default_factory=dict)
    producer: str = "https://example.com/p"
    # What the run reports of its only input: check -> passed.
    checks: dict[str, bool] = field(default_factory=dict)
    # How much later than its time each event arrives: START and the end.
    delays: tuple[timedelta, timedelta] = (timedelta(0), timedelta(0))
    copies: int = 1
    # Further attempts under the same run id: (state, minutes after the start).
    earlier: tuple[tuple[str, float], ...] = ()

    @property
    def end(self) -> datetime:
        return self.start + self.minutes * MINUTE

    @property
    def output(self) -> Output:
        (only,) = self.outputs
        return only

    def sent(self) -> list[Sent]:
        """Return the events of the run."""
        states = [("START", self.start, self.delays[0])]
        states += [
            (state, self.start + minutes * MINUTE, timedelta(0)) for state, minutes in self.earlier
        ]
        if self.status is not None:
            states.append((self.status, self.end, self.delays[1]))
        return [
            Sent(when + delay, self._event(state, when))
            for state, when, delay in states
            for _ in range(self.copies)
        ]

    def _event(self, state: str, when: datetime) -> Event:
        run_facets, job_facets = dict(self.run_facets), dict(self.job_facets)
        if self.parent is not None:
            run, job = self.parent
            run_facets["parent"] = {
                "run": {"runId": run},
                "job": {"namespace": "etl", "name": job},
            }
        if self.version is not None:
            run_facets[native.RUN_FACET] = {"version": self.version}
        if state == "FAIL" and self.error is not None:
            run_facets["errorMessage"] = {"message": self.error, "programmingLanguage": "SQL"}
        if self.sql is not None:
            job_facets["sql"] = {"query": self.sql}
        if self.owner is not None:
            job_facets["ownership"] = {"owners": [{"name": self.owner, "type": "team"}]}
        is_complete = state == "COMPLETE"
        return {
            "eventType": state,
            "eventTime": text(when),
            "producer": self.producer,
            "run": {"runId": self.id, "facets": with_heads(run_facets)},
            "job": {"namespace": "etl", "name": self.job, "facets": with_heads(job_facets)},
            "inputs": [self._input(one, is_complete=is_complete) for one in self.inputs],
            "outputs": [one.as_dataset(is_complete=is_complete) for one in self.outputs],
        }

    def _input(self, name: str | Event, *, is_complete: bool) -> Event:
        found: Event = {"namespace": "db", "name": name} if isinstance(name, str) else dict(name)
        if is_complete and self.checks:
            assertions = [
                {"assertion": check, "success": passed} for check, passed in self.checks.items()
            ]
            found["inputFacets"] = with_heads({"dataQualityAssertions": {"assertions": assertions}})
        return found


def with_heads(facets: Event) -> Event:
    return {name: {**FACET, **content} for name, content in facets.items()}


@dataclass
class Delivery:
    """One capture of a source."""

    name: str
    when: datetime
    schema: dict[str, str] = field(default_factory=dict)

    def sent(self) -> Sent:
        event = native.source_event(
            self.name, namespace="db", origin="shop", captured_at=text(self.when)
        )
        if self.schema:
            fields = [{"name": name, "type": type} for name, type in self.schema.items()]
            event["dataset"]["facets"]["schema"] = {**FACET, "fields": fields}
        return Sent(self.when, event)


@dataclass
class Plan:
    """All runs and deliveries by name and day, and other events."""

    runs: dict[tuple[str, int], Run] = field(default_factory=dict)
    deliveries: dict[tuple[str, int], Delivery] = field(default_factory=dict)
    others: list[Sent] = field(default_factory=list)

    def add(self, *runs: Run) -> None:
        """Add runs beside the regular ones."""
        for run in runs:
            self.others += run.sent()

    def send(self, when: datetime, event: Event) -> None:
        self.others.append(Sent(when, event))

    def each(self, job: str, first: int = 1, last: int = DAYS) -> list[Run]:
        """Return the runs of a job from one day to another."""
        days = range(first, last + 1)
        return [self.runs[job, day] for day in days if (job, day) in self.runs]

    def skip(self, job: str, *days: int) -> None:
        for day in days:
            del self.runs[job, day]

    def events(self) -> list[Sent]:
        """Return every event, in the order in which they arrive."""
        found = list(self.others)
        for run in self.runs.values():
            found += run.sent()
        found += [delivery.sent() for delivery in self.deliveries.values()]
        return sorted(found, key=lambda sent: sent.at)


def dataset_event(name: str, when: datetime, facets: dict[str, Any]) -> Event:
    """Return the event of facets of a dataset."""
    about = {"namespace": "db", "name": name, "facets": with_heads(facets)}
    return {"eventTime": text(when), "producer": FACET["_producer"], "dataset": about}
