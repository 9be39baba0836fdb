"""The episodes of nodes: read their histories, and run the detectors.

A detector may depend on the clock: a run becomes overdue without any event. So the detectors also
run for the instant `HORIZON` later. If that differs, `due` holds the time at which the node must be
read again. No other node need be read without an event.

A detector that raises an error is a defect. The findings of that node stay as they are, and the log
names it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from headwater.chunks import chunks
from headwater.governance.policies.store import PolicyStore
from headwater.health.findings.answers.detect import detect_answer
from headwater.health.findings.answers.reader import read_answer_histories
from headwater.health.findings.datasets.detect import detect_dataset
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.health.findings.feature_drift import feature_drift_episodes
from headwater.health.findings.jobs.detect import detect_job, detect_job_by_clock
from headwater.health.findings.jobs.history import LAG_LIMIT
from headwater.health.findings.jobs.reader import read_job_histories
from headwater.health.findings.models import Episode
from headwater.health.findings.policy_violation import policy_episodes
from headwater.health.findings.producers.detect import detect_producer
from headwater.health.findings.producers.reader import read_producer_histories
from headwater.health.findings.unmasked_personal_data import personal_data_episodes
from headwater.lineage.view import GraphView

H = TypeVar("H")
Detect = Callable[[datetime], Sequence[Episode]]

SUBJECTS_PER_CHUNK = 100
# A full pass follows within this time, so that nothing later need be known.
HORIZON = timedelta(hours=2)
_PRECISION = timedelta(seconds=30)

log = logging.getLogger("headwater.findings")


@dataclass(frozen=True)
class Terms:
    """What operators decide: the policies in force, and how far a stream may be behind."""

    policies: PolicyStore | None = None
    lag_limit: int = LAG_LIMIT


DEFAULT_TERMS = Terms()


@dataclass
class Derived:
    """The episodes of nodes by the id of their findings, and when nodes must be read again.

    failed: the nodes whose detectors raised an error.
    """

    episodes: dict[str, Episode] = field(default_factory=dict)
    due: dict[str, datetime] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def add(
        self, subject: str, detect: Detect, instant: datetime, by_clock: Detect | None = None
    ) -> None:
        """Add the episodes of a node, and the instant at which the clock alone changes them.

        `by_clock` returns those of the episodes that depend on the clock, at less cost than all.
        """
        try:
            found = detect(instant)
            if by_clock is None:
                due = next_change(detect, instant, found)
            else:
                due = next_change(by_clock, instant, by_clock(instant))
        except Exception:
            log.exception("detector_failed subject=%s", subject)
            self.failed.add(subject)
            return
        self.episodes.update((episode.id, episode) for episode in found)
        if due is not None:
            self.due[subject] = due


def derive(
    view: GraphView,
    urns: Iterable[str],
    instant: datetime,
    *,
    terms: Terms = DEFAULT_TERMS,
    on_chunk: Callable[[], object] = lambda: None,
) -> Derived:
    """Return the episodes of these nodes at an instant, those of policies in force among them.

    `on_chunk` is called after each chunk.
    """
    derived = Derived()
    for some in chunks(sorted(set(urns)), SUBJECTS_PER_CHUNK):
        for subject, detect, by_clock in _detectors(view, some, instant, terms.lag_limit):
            derived.add(subject, detect, instant, by_clock)
        if terms.policies is not None:
            _add_violations(view, terms.policies, some, instant, derived)
        _add_by_subject(personal_data_episodes(view, some, instant), derived)
        _add_by_subject(feature_drift_episodes(view, some), derived)
        on_chunk()
    return derived


def _add_violations(
    view: GraphView,
    policies: PolicyStore,
    urns: Sequence[str],
    instant: datetime,
    derived: Derived,
) -> None:
    """Add the violations of policies. What the clock alone changes is found by the full passes."""
    _add_by_subject(policy_episodes(view, policies, urns, instant), derived)


def _add_by_subject(found: Mapping[str, Sequence[Episode]], derived: Derived) -> None:
    for episodes in found.values():
        derived.episodes.update((episode.id, episode) for episode in episodes)


def next_change(detect: Detect, instant: datetime, found: Iterable[Episode]) -> datetime | None:
    """Return when the clock alone changes the episodes that were found at an instant.

    None if it does not within `HORIZON`.
    """
    now, later = _outline(found), instant + HORIZON
    if _outline(detect(later)) == now:
        return None
    earlier = instant
    while later - earlier > _PRECISION:
        middle = earlier + (later - earlier) / 2
        if _outline(detect(middle)) == now:
            earlier = middle
        else:
            later = middle
    return later


def _outline(episodes: Iterable[Episode]) -> set[tuple[str, datetime | None]]:
    return {(episode.id, episode.resolved_at) for episode in episodes}


def _detectors(
    view: GraphView, urns: Sequence[str], instant: datetime, lag_limit: int
) -> Iterator[tuple[str, Detect, Detect | None]]:
    """Yield each node that exists, with the function from an instant to its episodes, and the one
    to those that depend on the clock, if there is one."""
    of_kind: dict[str, list[str]] = {}
    for urn in urns:
        of_kind.setdefault(urn.partition(":")[0], []).append(urn)
    jobs, datasets = of_kind.get("job", []), of_kind.get("dataset", [])
    for job in read_job_histories(view, jobs, lag_limit=lag_limit):
        yield job.urn, _bound(detect_job, job), _bound(detect_job_by_clock, job)
    for dataset in read_dataset_histories(view, datasets, instant):
        yield dataset.urn, _bound(detect_dataset, dataset), None
    for answer in read_answer_histories(view, of_kind.get("answer", []), instant):
        yield answer.urn, _bound(detect_answer, answer), None
    # Their history has no events of their own, so only full passes name them.
    if producers := of_kind.get("producer"):
        for producer in read_producer_histories(view, producers):
            yield producer.urn, _bound(detect_producer, producer), None


def _bound(detect: Callable[[H, datetime], list[Episode]], history: H) -> Detect:
    def bound(instant: datetime) -> list[Episode]:
        return detect(history, instant)

    return bound
