"""The definition of each service level: what is counted, of what, when, from which source.

`docs/reference/service-levels.md` is written from this table. A level that is a figure of a
dashboard takes its words, its value and its target (the threshold of the figure) from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater.errors import QueryError
from headwater.health.figures.definitions import FIGURES, Direction, Unit

WINDOW_DAYS = 30
# The fields that M6 requires: of each job with a run, and of each dataset that a job writes.
JOB_FIELDS = ("inputs", "outputs", "owner", "code")
DATASET_FIELDS = ("schema", "column lineage", "owner", "description")
# The rules whose P1 findings break a promise of days, by the id of the level.
PROBLEM_RULES: dict[str, tuple[str, ...]] = {}
IMPACT_SECONDS = 900
ROOT_CAUSE_SECONDS = 3_600
LAG_SECONDS = 60


class Source(StrEnum):
    """Where the counts of a level come from."""

    # A figure of a dashboard, with its daily snapshots.
    FIGURE = "FIGURE"
    # Runs and findings in the graph, by their times.
    HISTORY = "HISTORY"
    # The graph as it is, with hourly samples.
    GRAPH = "GRAPH"
    # Counters of the processes, with samples of five minutes.
    COUNTERS = "COUNTERS"


class Budget(StrEnum):
    """What the budget of errors counts."""

    # The parts that the denominator counts: events, runs, datasets.
    PARTS = "PARTS"
    # The days on which the value missed its target.
    DAYS = "DAYS"


@dataclass(frozen=True)
class ServiceLevel:
    """A service level.

    `numerator` says what counts as good, of what the `denominator` counts. `objective` is the share
    of good parts (or days, see `budget`) that is promised; the rest is the budget of errors.
    `figure` names the figure that the level is.
    """

    id: str
    name: str
    title: str
    value: str
    numerator: str
    denominator: str
    origin: str
    source: Source
    unit: Unit
    good: Direction
    target: float
    objective: float
    budget: Budget = Budget.PARTS
    window_days: int = WINDOW_DAYS
    figure: str = ""

    def is_met_by(self, value: float | None) -> bool | None:
        """Return True if a value reaches the target; None for an unknown value."""
        if value is None:
            return None
        return value >= self.target if self.good is Direction.UP else value <= self.target


def _of_figure(
    id: str, name: str, origin: str, *, objective: float, budget: Budget = Budget.PARTS
) -> ServiceLevel:
    figure = FIGURES[name]
    assert figure.threshold is not None
    negated = "not " if figure.good is Direction.DOWN and figure.unit is Unit.SHARE else ""
    return ServiceLevel(
        id=id,
        name=name,
        title=figure.title,
        value=f"the figure {name}",
        numerator=f"{negated}{figure.numerator}",
        denominator=figure.denominator,
        origin=origin,
        source=Source.FIGURE,
        unit=figure.unit,
        good=figure.good,
        target=figure.threshold,
        objective=objective,
        budget=budget,
        figure=name,
    )


def _of_problems(id: str, title: str, rules: tuple[str, ...]) -> ServiceLevel:
    """Return the level of days on which no P1 finding of some rules was open."""
    PROBLEM_RULES[id] = rules
    return ServiceLevel(
        id=id,
        name=id,
        title=title,
        value="the share of good days",
        numerator=f"days on which no finding of tier P1 and rule {', '.join(rules)} was open",
        denominator="days of the window",
        origin="the findings",
        source=Source.HISTORY,
        unit=Unit.SHARE,
        good=Direction.UP,
        target=0.9,
        objective=0.9,
        budget=Budget.DAYS,
    )


_SNAPSHOTS = "the graph, and the daily snapshots of the figure"
_RUNS = "the runs in the graph that started in the window"

SERVICE_LEVELS: dict[str, ServiceLevel] = {
    one.id: one
    for one in (
        _of_figure("M1", "coverage", _SNAPSHOTS, objective=0.8),
        ServiceLevel(
            id="M2",
            name="capture-rate",
            title="Capture rate",
            value="the share",
            numerator="runs whose events named a dataset that they read, wrote or dropped, or "
            "another run's data; and runs that contain others, whose data those report",
            denominator="runs that started in the window and ended. Runs on Spark's RDDs whose "
            "producer sends no end are left out",
            origin=_RUNS,
            source=Source.HISTORY,
            unit=Unit.SHARE,
            good=Direction.UP,
            target=0.95,
            objective=0.95,
        ),
        ServiceLevel(
            id="M3",
            name="time-to-impact",
            title="Time to impact",
            value="the median time from a failure, by its producer's clock, to the last write of "
            "the run in the graph: from then on its impact list is complete",
            numerator="failed runs whose impact list was complete within 15 minutes",
            denominator="runs that failed in the window",
            origin="the runs in the graph that failed in the window",
            source=Source.HISTORY,
            unit=Unit.SECONDS,
            good=Direction.DOWN,
            target=IMPACT_SECONDS,
            objective=0.9,
        ),
        ServiceLevel(
            id="M4",
            name="root-cause-time",
            title="Time to end the root cause",
            value="the mean time from the first evidence of a P1 finding to the end of its root "
            "cause, over the findings of the denominator whose root cause ended",
            numerator="of these, findings whose root cause ended within an hour",
            denominator="P1 findings first seen in the window whose root cause ended, or is open "
            "for an hour or more",
            origin="the findings",
            source=Source.HISTORY,
            unit=Unit.SECONDS,
            good=Direction.DOWN,
            target=ROOT_CAUSE_SECONDS,
            objective=0.9,
        ),
        ServiceLevel(
            id="M5",
            name="ingest-lag",
            title="Ingest lag",
            value="the 95th percentile of the time from accepted to visible in the graph, with "
            "equal spacing within a bucket of the histogram",
            numerator="events that were visible within 60 s",
            denominator="events that became visible in the window",
            origin="the histogram headwater_ingest_lag_seconds",
            source=Source.COUNTERS,
            unit=Unit.SECONDS,
            good=Direction.DOWN,
            target=LAG_SECONDS,
            objective=0.95,
        ),
        ServiceLevel(
            id="M6",
            name="completeness",
            title="Completeness",
            value="the share",
            numerator="required fields with a value",
            denominator=f"required fields: {', '.join(JOB_FIELDS)} of each job with a run that "
            f"contains no others; {', '.join(DATASET_FIELDS)} of each dataset that a job writes. "
            "Code is source code, SQL or an address of it",
            origin="the graph as it is",
            source=Source.GRAPH,
            unit=Unit.SHARE,
            good=Direction.UP,
            target=0.9,
            objective=0.9,
        ),
        ServiceLevel(
            id="M7",
            name="schema-drift",
            title="Unexpected schema changes",
            value="findings schema-drift first seen in the window that affect a critical or "
            "certified node, a day",
            numerator="days without such a finding",
            denominator="days of the window",
            origin="the findings",
            source=Source.HISTORY,
            unit=Unit.COUNT,
            good=Direction.DOWN,
            target=0,
            objective=29 / 30,
            budget=Budget.DAYS,
        ),
        ServiceLevel(
            id="M8",
            name="correlated-flows",
            title="Correlated flows",
            value="the share",
            numerator="of these, runs whose parent run (if they name one) sent events itself, and "
            "whose job shares a dataset with another job or an answer",
            denominator="runs that started in the window, ended, and contain no others",
            origin=_RUNS,
            source=Source.HISTORY,
            unit=Unit.SHARE,
            good=Direction.UP,
            target=0.9,
            objective=0.9,
        ),
        ServiceLevel(
            id="M9",
            name="query-success",
            title="Query success",
            value="the share",
            numerator="questions that were answered. A GraphQL answer with an error that is not "
            "the caller's mistake failed, whatever its HTTP status; so did a status of 500 or more",
            denominator="questions by GraphQL over HTTP, REST and Cypher, without those that the "
            "caller got wrong: BAD_REQUEST, NOT_FOUND, FORBIDDEN, UNAUTHORIZED, a query over a "
            "limit, or a status of 400 to 499",
            origin="the counter headwater_questions_total",
            source=Source.COUNTERS,
            unit=Unit.SHARE,
            good=Direction.UP,
            target=0.99,
            objective=0.99,
        ),
        ServiceLevel(
            id="M10",
            name="storage-cost",
            title="Storage cost per million events",
            value="bytes of the spool and of the local Neo4j, times HEADWATER_STORAGE_PRICE (a "
            "GB-month), per million received events. A Neo4j on another machine is not counted",
            numerator="days on which the cost was at most HEADWATER_STORAGE_COST_TARGET",
            denominator="days with a sample",
            origin="the files of the home",
            source=Source.COUNTERS,
            unit=Unit.COST,
            good=Direction.DOWN,
            target=1.0,
            objective=0.9,
            budget=Budget.DAYS,
        ),
        ServiceLevel(
            id="run-success",
            name="run-success",
            title="Successful end-to-end runs",
            value="the share",
            numerator="of these, runs that completed",
            denominator="runs that started in the window, ended, belong to no other run, and were "
            "not retried: the last attempt of each execution",
            origin=_RUNS,
            source=Source.HISTORY,
            unit=Unit.SHARE,
            good=Direction.UP,
            target=0.95,
            objective=0.95,
        ),
        _of_problems(
            "data-freshness",
            "Fresh data for consumers",
            ("stale-source", "stale-dataset", "stale-answer", "missing-run"),
        ),
        _of_problems("data-correctness", "Correct data for consumers", ("failed-check",)),
        _of_figure(
            "median-blast-radius",
            "median-blast-radius",
            _SNAPSHOTS,
            objective=0.9,
            budget=Budget.DAYS,
        ),
        _of_figure("unknown-downstreams", "unknown-downstreams", _SNAPSHOTS, objective=0.7),
        _of_figure(
            "certified-path-integrity",
            "certified-path-integrity",
            _SNAPSHOTS,
            objective=0.9,
            budget=Budget.DAYS,
        ),
    )
}


def levels_of(ids: list[str] | None) -> list[ServiceLevel]:
    """Return the service levels by id, all without ids.

    Raises QueryError for an unknown id.
    """
    if not ids:
        return list(SERVICE_LEVELS.values())
    for id in ids:
        if id not in SERVICE_LEVELS:
            raise QueryError(
                f"{id[:80]!r} is an unknown service level",
                hint=f"Give one of {', '.join(SERVICE_LEVELS)}.",
            )
    return [SERVICE_LEVELS[id] for id in dict.fromkeys(ids)]
