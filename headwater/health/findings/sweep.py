"""A pass: derive the findings of some nodes or of all, and write what changed in one transaction.

What a finding says beside its episode (who is affected, its tier, its root) depends on other nodes.
So a pass also reads the findings downstream of each changed finding, whose root may be another now,
and the findings upstream of each changed edge or tag, which may affect others now. The result is
that of a full pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row, Transaction
from headwater.errors import HeadwaterError
from headwater.health.findings.affected import (
    Subject,
    find_downstream,
    find_upstream,
    read_affected,
    read_subjects,
    read_upstream,
)
from headwater.health.findings.derive import (
    DEFAULT_TERMS,
    SUBJECTS_PER_CHUNK,
    Derived,
    Terms,
    derive,
)
from headwater.health.findings.disclosure import namespaces_of
from headwater.health.findings.models import Affected, Episode, Finding
from headwater.health.findings.root_causes import Interval, find_roots
from headwater.health.findings.severity import own_tier, tier_of
from headwater.health.findings.store import (
    Changes,
    changes,
    episode_of,
    finding_row,
    has_episode,
    write_changes,
)
from headwater.lineage.view import GraphView

_PAGE = 5_000
_URNS_PER_QUERY_MAX = 1_000
_ANSWER = "answer:"
_NOBODY = Subject()

WriteMore = Callable[[Transaction], object]


class OvertakenError(HeadwaterError):
    """Another detector wrote findings meanwhile: this pass wrote nothing and must run again."""


@dataclass(frozen=True)
class Swept:
    """What a pass did: the nodes read, the findings changed, and when nodes must be read again.

    findings, open: how many findings the nodes have, and how many of them are open.
    """

    subjects: int
    findings: int
    open: int
    changes: Changes
    due: Mapping[str, datetime]


@dataclass
class _State:
    """The findings of the graph before a pass, as far as it needs them."""

    passes: int
    intervals: dict[str, Interval]
    roots: dict[str, str]
    stored: dict[str, Row] = field(default_factory=dict)


def sweep(
    view: GraphView,
    urns: Collection[str] | None,
    instant: datetime,
    *,
    relinked: Collection[str] = (),
    evaluates_all: bool = False,
    terms: Terms = DEFAULT_TERMS,
    on_write: WriteMore = id,
    on_chunk: Callable[[], object] = lambda: None,
) -> Swept:
    """Derive the findings of these nodes again, or of all (None), and write what changed.

    Args:
        view: The graph, unrestricted.
        urns: The nodes whose history changed.
        instant: The now of the detectors.
        relinked: The nodes whose edges, tags or owners changed.
        evaluates_all: Find out again who is affected by every finding, and its root.
        terms: The policies in force, and limits.
        on_write: Called with the transaction before it ends.
        on_chunk: Called after each chunk of nodes, for a pause.

    Raises:
        OvertakenError: Another detector wrote meanwhile.
        UnavailableError: Neo4j is away.
    """
    passes = read_passes(view)
    subjects = sorted(set(chain.from_iterable(subject_pages(view)) if urns is None else urns))
    derived = derive(view, subjects, instant, terms=terms, on_chunk=on_chunk)
    intervals, roots = _read_intervals(view)
    state = _State(passes, intervals, roots)
    state.stored = _read_stored(view, subjects)
    changed = _changed_episodes(state.stored, derived)
    gone = {
        urn
        for urn, row in state.stored.items()
        if urn not in derived.episodes and row["subject"] not in derived.failed
    }
    if urns is None or evaluates_all:
        scope = {one.subject for one in intervals.values()}
        scope.update(one.subject for one in derived.episodes.values())
    elif changed or gone or relinked:
        scope = _scope(view, state, derived, changed | gone, relinked)
    else:
        scope = set()
    rows = _evaluate(view, state, derived, gone, scope) if scope else []
    found = _changes(state.stored, rows, gone)
    _write(view, passes, found, on_write)
    episodes = derived.episodes.values()
    still_open = sum(one.resolved_at is None for one in episodes)
    return Swept(len(subjects), len(episodes), still_open, found, derived.due)


def read_passes(view: GraphView) -> int:
    """Return the number of passes that wrote to the graph."""
    rows = view.read("read/findings/detector")
    return int(rows[0]["properties"].get("passes", 0)) if rows else 0


def subject_pages(view: GraphView) -> Iterator[list[str]]:
    """Yield all nodes that may have findings or have some, page by page in order of their urns."""
    after = ""
    while True:
        rows = view.read("read/findings/subject_urns", after=after, limit=SUBJECTS_PER_CHUNK)
        if not rows:
            return
        yield [row["urn"] for row in rows]
        after = rows[-1]["urn"]


def _read_intervals(view: GraphView) -> tuple[dict[str, Interval], dict[str, str]]:
    """Return all findings as far as causes depend on them, and their roots."""
    intervals: dict[str, Interval] = {}
    roots: dict[str, str] = {}
    after = ""
    while True:
        rows = view.read("read/findings/intervals", after=after, limit=_PAGE)
        for row in rows:
            urn = row["urn"]
            intervals[urn] = Interval(
                urn, row["rule"], row["subject"], row["firstSeen"], row["resolvedAt"]
            )
            roots[urn] = row["root"]
        if len(rows) < _PAGE:
            return intervals, roots
        after = rows[-1]["urn"]


def _read_stored(view: GraphView, subjects: Sequence[str]) -> dict[str, Row]:
    """Return the properties of every finding of these nodes."""
    stored: dict[str, Row] = {}
    for some in chunks(list(subjects), _URNS_PER_QUERY_MAX):
        for row in view.read("read/findings/findings_stored", urns=some):
            stored[row["urn"]] = row["properties"]
    return stored


def _changed_episodes(stored: Mapping[str, Row], derived: Derived) -> set[str]:
    return {
        urn
        for urn, episode in derived.episodes.items()
        if urn not in stored or not has_episode(stored[urn], episode)
    }


def _scope(
    view: GraphView,
    state: _State,
    derived: Derived,
    changed: Collection[str],
    relinked: Collection[str],
) -> set[str]:
    """Return the nodes whose findings must be evaluated again."""
    everything = {one.subject for one in state.intervals.values()}
    everything.update(one.subject for one in derived.episodes.values())
    subjects = {_subject(urn, state, derived) for urn in changed}
    down = find_downstream(view, subjects.union(relinked))
    up = find_upstream(view, relinked)
    if down.truncated or up.truncated:
        return everything
    return everything & (subjects | set(relinked) | down.hops.keys() | up.hops.keys())


def _subject(urn: str, state: _State, derived: Derived) -> str:
    episode = derived.episodes.get(urn)
    return episode.subject if episode else state.intervals[urn].subject


def _evaluate(
    view: GraphView, state: _State, derived: Derived, gone: Collection[str], scope: set[str]
) -> list[Row]:
    """Return the rows of all findings of the nodes in scope, and of those whose root moved."""
    current = {urn: one for urn, one in state.intervals.items() if urn not in gone}
    current.update((urn, _interval(one)) for urn, one in derived.episodes.items())
    roots = {urn: root for urn, root in state.roots.items() if urn in current}
    everything = {one.subject for one in current.values()}
    upstream: dict[str, dict[str, int]] = {}
    while True:
        upstream.update(read_upstream(view, scope - upstream.keys(), among=everything))
        asked = [one for one in current.values() if one.subject in scope]
        known = {urn: root for urn, root in roots.items() if current[urn].subject not in scope}
        found = find_roots(asked, upstream, known, current)
        moved = {urn for urn, root in found.items() if roots.get(urn, root) != root}
        more = _downstream_of_moved(view, current, moved, scope)
        if not more:
            break
        scope |= more
    episodes = _episodes(view, state, derived, [one.id for one in asked])
    affected = read_affected(view, episodes)
    subjects = read_subjects(view, scope)
    namespaces = namespaces_of(view, episodes)
    return [
        finding_row(
            _finding(one, affected[one.id], found[one.id], subjects.get(one.subject, _NOBODY)),
            {*subjects.get(one.subject, _NOBODY).namespaces, *namespaces[one.id]},
        )
        for one in episodes
    ]


def _downstream_of_moved(
    view: GraphView, current: Mapping[str, Interval], moved: Iterable[str], scope: set[str]
) -> set[str]:
    """Return the nodes outside of the scope whose findings may have the root of moved ones."""
    outside = {one.subject for one in current.values()} - scope
    subjects = {current[urn].subject for urn in moved}
    if not outside or not subjects:
        return set()
    down = find_downstream(view, subjects)
    return outside if down.truncated else outside & down.hops.keys()


def _episodes(
    view: GraphView, state: _State, derived: Derived, urns: Iterable[str]
) -> list[Episode]:
    """Return episodes by id; those of nodes outside of the pass are read from the graph."""
    wanted = sorted(set(urns))
    unread = [urn for urn in wanted if urn not in derived.episodes and urn not in state.stored]
    for some in chunks(unread, _URNS_PER_QUERY_MAX):
        for row in view.read("read/findings/findings_by_urn", urns=some):
            state.stored[row["urn"]] = row["properties"]
    episodes = [derived.episodes.get(urn) for urn in wanted]
    return [
        episode or episode_of(state.stored[urn])
        for urn, episode in zip(wanted, episodes, strict=True)
        if episode or urn in state.stored
    ]


def _finding(episode: Episode, affected: Affected, root: str, subject: Subject) -> Finding:
    is_critical = subject.is_critical or episode.subject.startswith(_ANSWER)
    return Finding(
        episode=episode,
        tier=own_tier(episode.rule, episode.evidence)
        or tier_of(episode.rule, affected, is_subject_critical=is_critical),
        root=root,
        owners=subject.owners,
        affected=affected,
    )


def _interval(episode: Episode) -> Interval:
    return Interval(
        episode.id, episode.rule, episode.subject, episode.first_seen, episode.resolved_at
    )


def _changes(stored: Mapping[str, Row], rows: Sequence[Row], gone: Collection[str]) -> Changes:
    derived = {row["urn"] for row in rows}
    relevant = {urn: row for urn, row in stored.items() if urn in derived or urn in gone}
    return changes(relevant, rows)


def _write(view: GraphView, passes: int, found: Changes, on_write: WriteMore) -> None:
    with view.database.write() as transaction:
        [locked] = transaction.run("write/findings/lock_detector", changes=found.count)
        if locked["passes"] != passes:
            raise OvertakenError("another detector wrote findings meanwhile")
        write_changes(transaction, found)
        on_write(transaction)
