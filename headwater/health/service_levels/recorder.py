"""The thread of the API that records the samples of service levels and keeps their gauges.

Every `READ_SECONDS` it reads the counters of all processes and adds their growth to the sample of
the hour. Every `EVALUATION_SECONDS` it evaluates all levels, for /metrics, and writes the values of
those whose past the graph does not know.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from headwater.errors import HeadwaterError
from headwater.health.questions import Outcome
from headwater.health.service_levels.definitions import (
    LAG_SECONDS,
    SERVICE_LEVELS,
    Source,
)
from headwater.health.service_levels.evaluation import LAG_BOUNDS, LevelState, evaluate
from headwater.health.service_levels.samples import (
    SLOT_MINUTES,
    SLOTS,
    Counts,
    Sample,
    delete_old_samples,
    hour_of,
    write_samples,
)
from headwater.lineage.view import GraphView

READ_SECONDS = 30.0
EVALUATION_SECONDS = 300.0
# The first questions of callers go first: Neo4j plans each query once.
START_SECONDS = 150.0
GIGABYTE = 1e9
MILLION = 1e6
LAG, QUERIES, COST = "M5", "M9", "M10"
_COUNTERS = (LAG, QUERIES)

log = logging.getLogger("headwater.health")


@dataclass(frozen=True)
class Storage:
    """The files that hold events and the graph, the price of a gigabyte for a month, and the cost
    per million events to stay below.
    """

    paths: tuple[Path, ...]
    price: float
    target: float

    def bytes(self) -> int:
        """Return the size of the files, those of folders included."""
        return sum(map(_size_of, self.paths))

    def cost_per_million(self, events: float) -> float | None:
        """Return the cost of a month for a million events; None without events."""
        return self.bytes() / GIGABYTE * self.price / (events / MILLION) if events else None


@dataclass(frozen=True)
class Reading:
    """What the counters of all processes show at one moment, since their start.

    `lag` are the events of each bucket of the histogram; `received` are all events of the spool.
    """

    lag: tuple[float, ...]
    answered: float
    failed: float
    received: float

    @classmethod
    def of(cls, families: Iterable[Metric]) -> Reading:
        """Return the reading of metrics in the text format of Prometheus."""
        values: dict[tuple[str, str], float] = {}
        for family in families:
            for sample in family.samples:
                label = sample.labels.get("le") or sample.labels.get("outcome", "")
                values[sample.name, label] = values.get((sample.name, label), 0.0) + sample.value
        cumulative = [
            values.get(("headwater_ingest_lag_seconds_bucket", _le(bound)), 0.0)
            for bound in LAG_BOUNDS
        ]
        below = [0.0, *cumulative[:-1]]
        questions = "headwater_questions_total"
        return cls(
            lag=tuple(count - less for count, less in zip(cumulative, below, strict=True)),
            answered=values.get((questions, Outcome.ANSWERED), 0.0),
            failed=values.get((questions, Outcome.FAILED), 0.0),
            received=values.get(("headwater_events_received_total", ""), 0.0),
        )

    def since(self, earlier: Reading) -> Reading:
        """Return the growth since an earlier reading; a counter that fell began again at 0."""
        return replace(
            self,
            lag=tuple(_growth(now, then) for now, then in zip(self.lag, earlier.lag, strict=True)),
            answered=_growth(self.answered, earlier.answered),
            failed=_growth(self.failed, earlier.failed),
        )

    def counts(self) -> Mapping[str, Counts]:
        """Return the good and all parts of each level of counters."""
        fast = sum(
            count for bound, count in zip(LAG_BOUNDS, self.lag, strict=True) if bound <= LAG_SECONDS
        )
        return {
            LAG: Counts(fast, sum(self.lag)),
            QUERIES: Counts(self.answered, self.answered + self.failed),
        }


class Recorder(Collector):
    """Records samples, and holds the state of every level for /metrics."""

    def __init__(
        self, view: GraphView, read_metrics: Callable[[], Iterable[Metric]], storage: Storage
    ) -> None:
        """Create a recorder.

        Args:
            view: The graph, unrestricted.
            read_metrics: Returns the metrics of all processes.
            storage: What the cost is worked out from.
        """
        self._view = view
        self._read_metrics = read_metrics
        self._storage = storage
        self._id = uuid.uuid4().hex[:8]
        self._last: Reading | None = None
        self._samples: dict[str, Sample] = {}
        self._states: list[LevelState] = []

    def run(self, stop: threading.Event) -> None:
        """Record until `stop` is set; Neo4j may be away."""
        self._try("read", lambda: self._read(datetime.now(UTC)))
        waited, pause = 0.0, START_SECONDS
        while not stop.wait(READ_SECONDS):
            waited += READ_SECONDS
            self._try("samples", lambda: self.record(datetime.now(UTC)))
            if waited >= pause:
                waited, pause = 0.0, EVALUATION_SECONDS
                self._try("levels", lambda: self.evaluate(datetime.now(UTC)))

    def record(self, now: datetime) -> None:
        """Add the growth of the counters to the samples of the hour, and write these.

        Raises UnavailableError; the growth then counts at the next call.
        """
        reading = self._read(now)
        samples = [self._samples[id] for id in _COUNTERS if self._samples[id].counts.total]
        cost = self._storage.cost_per_million(reading.received)
        if cost is not None:
            target = self._storage.target
            samples.append(Sample(COST, hour_of(now), now, Counts(), value=cost, target=target))
        write_samples(self._view.database, samples, recorder=self._id)

    def evaluate(self, now: datetime) -> list[LevelState]:
        """Evaluate every level, and write the values that have no other history.

        Raises UnavailableError.
        """
        self._states = [evaluate(self._view, level, now) for level in SERVICE_LEVELS.values()]
        samples = [
            Sample(state.level.id, hour_of(now), now, state.counts, value=state.value)
            for state in self._states
            if state.level.source in (Source.HISTORY, Source.GRAPH) and state.value is not None
        ]
        write_samples(self._view.database, samples, recorder=self._id)
        delete_old_samples(self._view.database, now)
        return self._states

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges of the last evaluation; a value that is unknown is left out."""
        for name, text, value_of in _GAUGES:
            family = GaugeMetricFamily(f"headwater_service_level_{name}", text, labels=["id"])
            for state in self._states:
                value = value_of(state)
                if value is not None:
                    family.add_metric([state.level.id], float(value))
            yield family

    def _read(self, now: datetime) -> Reading:
        """Read the counters, and add their growth to the samples of the hour."""
        reading = Reading.of(self._read_metrics())
        growth = reading.since(self._last or reading)
        self._last = reading
        counts = growth.counts()
        for id in _COUNTERS:
            buckets = growth.lag if id == LAG else ()
            self._samples[id] = _added(self._samples.get(id), id, now, counts[id], buckets)
        return reading

    def _try(self, task: str, run: Callable[[], object]) -> None:
        try:
            run()
        except HeadwaterError as error:
            log.warning("service_levels_failed task=%s error=%s", task, error.message)


_GAUGES: tuple[tuple[str, str, Callable[[LevelState], float | None]], ...] = (
    ("value", "The value of a service level.", lambda state: state.value),
    ("target", "The target of a service level.", lambda state: state.level.target),
    ("met", "1 if the value reaches the target, else 0.", lambda state: state.is_met),
    (
        "budget_left",
        "The rest of the budget of errors; below 0 it is overspent.",
        lambda state: state.budget_left,
    ),
    (
        "burn_rate",
        "How many times too fast the budget of errors burns.",
        lambda state: state.burn_rate,
    ),
)


def _added(
    sample: Sample | None, id: str, now: datetime, counts: Counts, buckets: tuple[float, ...]
) -> Sample:
    """Return the sample of the hour with further counts; a new one in a new hour."""
    hour = hour_of(now)
    if sample is None or sample.hour != hour:
        zero = (0.0,) * len(buckets)
        sample = Sample(id, hour, now, Counts(), slots=(Counts(),) * SLOTS, buckets=zero)
    slots = list(sample.slots)
    slots[now.minute // SLOT_MINUTES] += counts
    return replace(
        sample,
        taken_at=now,
        counts=sample.counts + counts,
        slots=tuple(slots),
        buckets=tuple(a + b for a, b in zip(sample.buckets, buckets, strict=True)),
    )


def _growth(now: float, then: float) -> float:
    return now - then if now >= then else now


def _le(bound: float) -> str:
    """Return a bound as the client of Prometheus writes it."""
    return "+Inf" if bound == float("inf") else str(float(bound))


def _size_of(path: Path) -> int:
    """Return the size of a file or of all files in a folder; a file that vanishes has none."""
    try:
        if not path.is_dir():
            return path.stat().st_size
        return sum(_size_of(one) for one in path.iterdir())
    except OSError:
        return 0
