"""Consumers of versions (runs and answers), and the changes of runs that concern them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from headwater.cypher.driver.database import Row
from headwater.ingest.project import AnswerView, Properties, RunView, RunViews, column_properties
from headwater.schema.facts import Name, RunFacts


class MovedVersion(msgspec.Struct, frozen=True, gc=False):
    """A version that appeared or changed.

    `instants` are its old and new times of start and creation. `requested` are the names (dataset,
    @ and name) that its producer gave it before and gives it now.
    """

    artifact: str
    dataset: str
    run: str
    instants: tuple[datetime, ...]
    requested: tuple[str, ...] = ()

    def row(self) -> Row:
        """Return the version as a row of a statement."""
        lists = {"instants": list(self.instants), "requested": list(self.requested)}
        return {**msgspec.structs.asdict(self), **lists, "since": min(self.instants)}


class VersionRead(msgspec.Struct, gc=False):
    """A dataset that a consumer read, by name, and the version if the event named it.

    `pinned_run` is the id of the run that made the version `pinned`.
    """

    dataset: str
    name: Name
    pinned: str | None
    version: str | None
    properties: Properties
    pinned_run: str | None = None


class Consumer(msgspec.Struct, gc=False):
    """A run or an answer, its start, and the versions, answers and columns it reads.

    `is_triggered`: the runs before it are known. `derived`: for each version it wrote, the origin
    datasets if they are known.
    """

    urn: str
    start: datetime | None
    reads: list[VersionRead]
    is_triggered: bool = False
    others: list[str] = []
    columns: dict[str, tuple[str, Properties]] = {}
    derived: dict[str, list[str]] = {}


class RunChanges(msgspec.Struct):
    """The effects of changed runs on versions and consumers.

    `moved`: versions that appeared or changed. `withdrawn`: versions that no run wrote after all.
    `new`: runs that the graph did not have. `retriggered`: runs whose preceding runs changed.
    `triggering`: runs that precede any of these. `rewritten`: by dataset, the instants of the
    versions and drops that changed what versions keep of the content before them.
    """

    moved: list[MovedVersion] = []
    withdrawn: list[str] = []
    new: set[str] = set()
    retriggered: list[str] = []
    triggering: set[str] = set()
    rewritten: dict[str, set[datetime]] = {}


_CONTENT_KEYS = ("createdAt", "complete", "writeMode", "inputsHash")
_ORDER_KEYS = ("startedAt", "createdAt", "complete", "version", "schemaHash")


def run_changes(
    changes: Mapping[str, tuple[RunFacts | None, RunFacts]],
    views: RunViews,
    rebound: Mapping[str, RunView],
    new: set[str],
) -> RunChanges:
    """Return the effects of changed runs.

    `rebound` has the old projections, with the new names, of runs that are written again because a
    dataset of theirs was joined or split: versions of their other datasets may have moved.
    """
    pairs = [(urn, old, view) for urn, (old, view) in views.items()]
    pairs += [(urn, old, views[urn][1]) for urn, old in rebound.items()]
    result = RunChanges(new=new)
    for urn, old, view in pairs:
        result.moved += moved_versions(urn, old, view)
        result.withdrawn += withdrawn_versions(old, view)
        for dataset, instant in _rewritten(old, view):
            result.rewritten.setdefault(dataset, set()).add(instant)
    result.withdrawn.sort()
    for urn, (before, run) in changes.items():
        result.triggering.update(run.after)
        if run.after and (before is None or before.after != run.after):
            result.retriggered.append(urn)
    return result


def _rewritten(old: RunView | None, new: RunView) -> Iterator[tuple[str, datetime]]:
    """Yield the datasets and instants at which a run changed what versions keep."""
    before = old.artifacts if old else {}
    for urn in before.keys() | new.artifacts.keys():
        sides = [side for side in (before.get(urn), new.artifacts.get(urn)) if side]
        is_same = len(sides) > 1 and all(sides[0][key] == sides[1][key] for key in _CONTENT_KEYS)
        for side in () if is_same else sides:
            if side["createdAt"] is not None:
                yield side["dataset"], side["createdAt"]
    drops = [(view.dropped, drop_time(view)) for view in (old, new) if view is not None]
    if drops[0] == drops[-1] and old is not None:
        return
    for datasets, ended in drops:
        if ended is not None:
            yield from ((dataset, ended) for dataset in datasets)


def drop_time(view: RunView) -> datetime | None:
    """Return when a run dropped datasets: when it succeeded, None if it did not."""
    finished: datetime | None = view.node["finishedAt"]
    return finished if view.node["status"] == "COMPLETE" else None


def moved_versions(run: str, old: RunView | None, new: RunView) -> list[MovedVersion]:
    """Return the versions of a run whose order among the versions, or whose schema, changed."""
    moved = []
    for urn, now in new.artifacts.items():
        before = old.artifacts.get(urn) if old else None
        if before and all(before[key] == now[key] for key in _ORDER_KEYS):
            continue
        sides = [side for side in (before, now) if side]
        instants = _instants(*sides)
        requested = {f"{now['dataset']}@{side['version']}" for side in sides if side["version"]}
        if instants:
            moved.append(MovedVersion(urn, now["dataset"], run, instants, tuple(sorted(requested))))
    if old:
        for urn in withdrawn_versions(old, new):
            before = old.artifacts[urn]
            if instants := _instants(before):
                moved.append(MovedVersion(urn, before["dataset"], run, instants))
    return moved


def _instants(*sides: Properties) -> tuple[datetime, ...]:
    instants: set[datetime | None] = set()
    for side in sides:
        instants.update((side["startedAt"], side["createdAt"]))
    return tuple(sorted(instant for instant in instants if instant is not None))


def withdrawn_versions(old: RunView | None, new: RunView) -> list[str]:
    """Return the versions that a run is no longer known to have written."""
    return sorted(old.artifacts.keys() - new.artifacts.keys()) if old else []


def changed_consumers(
    changes: Mapping[str, tuple[RunFacts | None, RunFacts]], views: RunViews
) -> dict[str, Consumer]:
    """Return the runs whose own links changed: their start, their inputs or their predecessors."""
    return {
        urn: run_consumer(urn, changes[urn][1], view)
        for urn, (old, view) in views.items()
        if _has_new_links(changes[urn], old, view)
    }


def _has_new_links(
    facts: tuple[RunFacts | None, RunFacts], old: RunView | None, new: RunView
) -> bool:
    before, now = facts
    if old is None or before is None:
        return True
    links = (old.node["startedAt"], old.reads, before.after)
    return links != (new.node["startedAt"], new.reads, now.after)


def run_consumer(urn: str, facts: RunFacts, view: RunView) -> Consumer:
    """Return a run as a consumer."""
    reads = [
        VersionRead(use.dataset, use.name, use.pinned, use.version, use.properties, use.pinned_run)
        for use in view.reads
    ]
    return Consumer(urn, view.node["startedAt"], reads, bool(facts.after), derived=view.derived)


def answer_consumer(urn: str, view: AnswerView) -> Consumer:
    """Return an answer as a consumer of its citations."""
    consumer = Consumer(urn, view.node.get("generatedAt"), [])
    for citation in view.citations:
        if citation.answer:
            consumer.others.append(citation.answer)
            continue
        properties: Properties = {"pinned": True if citation.pinned else None}
        read = VersionRead(citation.dataset, citation.name, citation.pinned, None, properties)
        read.pinned_run = citation.pinned_run
        consumer.reads.append(read)
        if citation.column and citation.field:
            consumer.columns[citation.column] = (
                citation.dataset,
                column_properties(citation.name, citation.field),
            )
    return consumer


def has_new_origins(old: RunView | None, new: RunView) -> bool:
    """Return True if any version of a run is new or has other origin datasets."""
    before = old.artifacts if old else {}
    return any(
        urn not in before or (old is not None and old.derived.get(urn) != new.derived.get(urn))
        for urn in new.artifacts
    )
