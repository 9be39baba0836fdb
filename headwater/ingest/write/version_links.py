"""Which version of a dataset a run read and an answer cites.

A reader is linked to the newest complete version made before it began, and to the newest one that a failed or
unfinished run left after that one (it may have read either, and the one must not hide the other). Where nothing was
made before, it read the first version that was already being made, or else a Source. When an event names the version,
by the run that made it or by its producer's own name for it, and something is known to have made it, that one is taken.

Clocks of producers differ: a run that was triggered by another (jobDependencies) began after that one ended, whatever
their clocks say, so what the other made is taken where it is newer than anything found by time.

Because a version may turn up, fail or move in time after its readers are known, every reader that a change can
concern is linked afresh, from its own facts, in the same transaction. So links too are a function of the set of
events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import (
    AnswerView,
    Properties,
    RunView,
    answer_view,
    cited_names,
    column_properties,
    mark_version,
    run_view,
    source_properties,
    without_nulls,
)
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.datasets import Places, learn_names
from headwater.ingest.write.rows import held, run_rows
from headwater.ingest.write.version_timeline import TIMELINE_MAX, Version, read_timeline
from headwater.schema.facts import AnswerFacts, Name, RunFacts
from headwater.schema.naming import Naming
from headwater.schema.urns import dataset_urn, display_name, parse_urn, source_urn


class Moved(msgspec.Struct, frozen=True, gc=False):
    """A version that appeared or changed: the instants at which it was and is made, and the names that its producer
    gave it then and gives it now."""

    artifact: str
    dataset: str
    run: str
    instants: tuple[datetime, ...]
    wanted: tuple[str, ...] = ()

    def row(self) -> Row:
        lists = {"instants": list(self.instants), "wanted": list(self.wanted)}
        return {**msgspec.structs.asdict(self), **lists, "since": min(self.instants)}


class Read(msgspec.Struct, gc=False):
    """A dataset that was read: by which name, and which version of it where that was said."""

    dataset: str
    name: Name
    pinned: str | None
    version: str | None
    properties: Properties


class Reader(msgspec.Struct, gc=False):
    """A run or an answer, when it began, and what it reads. `is_triggered` when it is known what it ran after;
    `derived`: by version that it made the datasets that it came from, where that is known."""

    urn: str
    at: datetime | None
    reads: list[Read]
    is_triggered: bool = False
    others: list[str] = []
    columns: dict[str, tuple[str, Properties]] = {}
    derived: dict[str, list[str]] = {}


class RunChanges(msgspec.Struct):
    """What some runs changed: the versions that moved and those that are gone, the runs that were not there before,
    those of which it is newly known what they run after, and those that any of them runs after."""

    moved: list[Moved]
    gone: list[str]
    new: set[str]
    placed_anew: list[str]
    triggering: set[str]


_PLACE = ("startedAt", "createdAt", "complete", "version", "schemaHash")


def moved_versions(run: str, old: RunView | None, new: RunView) -> list[Moved]:
    """The versions of a run whose place among the versions of their dataset, or whose schema, is not what it was."""
    moved = []
    for urn, now in new.artifacts.items():
        before = old.artifacts.get(urn) if old else None
        if before and all(before[key] == now[key] for key in _PLACE):
            continue
        sides = [side for side in (before, now) if side]
        instants = {side[key] for side in sides for key in ("startedAt", "createdAt")} - {None}
        wanted = {f"{now['dataset']}@{side['version']}" for side in sides if side["version"]}
        if instants:
            moved.append(
                Moved(urn, now["dataset"], run, tuple(sorted(instants)), tuple(sorted(wanted)))
            )
    return moved + [_gone(run, urn, old.artifacts[urn]) for urn in gone_versions(old, new) if old]


def learn_versions(run: str, old: RunView | None, new: RunView, memory: Memory) -> None:
    """Put the versions of a run on the timelines that are remembered."""
    for urn in gone_versions(old, new):
        if old and (timeline := memory.timelines.get(old.artifacts[urn]["dataset"])):
            timeline.drop(urn)
    for urn, now in new.artifacts.items():
        timeline = memory.timelines.get(now["dataset"])
        if timeline is None:
            continue
        if now["createdAt"] is None:
            timeline.drop(urn)
        else:
            timeline.put(Version(now["createdAt"], urn, run, now["startedAt"], now["complete"]))


def gone_versions(old: RunView | None, new: RunView) -> list[str]:
    """The versions that a run is no longer thought to have made."""
    return sorted(old.artifacts.keys() - new.artifacts.keys()) if old else []


def _gone(run: str, urn: str, properties: Properties) -> Moved:
    instants = {properties[key] for key in ("startedAt", "createdAt")} - {None}
    return Moved(urn, properties["dataset"], run, tuple(sorted(instants)))


def run_reader(urn: str, facts: RunFacts, view: RunView) -> Reader:
    reads = [
        Read(use.dataset, use.name, use.pinned, use.version, use.properties) for use in view.reads
    ]
    return Reader(urn, view.node["startedAt"], reads, bool(facts.after), derived=view.derived)


def answer_reader(urn: str, view: AnswerView) -> Reader:
    reader = Reader(urn, view.node.get("generatedAt"), [])
    for citation in view.citations:
        if citation.answer:
            reader.others.append(citation.answer)
            continue
        properties = {"pinned": True} if citation.pinned else {"pinned": None}
        reader.reads.append(
            Read(citation.dataset, citation.name, citation.pinned, None, properties)
        )
        if citation.column and citation.field:
            reader.columns[citation.column] = (
                citation.dataset,
                column_properties(citation.name, citation.field),
            )
    return reader


def relink(
    transaction: Transaction,
    readers: Mapping[str, Reader],
    changes: RunChanges,
    places: Places,
    naming: Naming,
    memory: Memory,
) -> dict[str, Reader]:
    """Link these readers, and all others that the moved versions concern, or that run after runs of which it is newly
    known what those run after. Returns the runs linked, by urn."""
    all_runs = {urn: reader for urn, reader in readers.items() if urn.startswith("run:")}
    all_answers = {urn: reader for urn, reader in readers.items() if urn.startswith("answer:")}
    concerned = _concerned(transaction, changes, memory)
    after = sorted(changes.placed_anew)
    concerned |= (
        {row["urn"] for row in transaction.run("read/versions/triggered_runs", urns=after)}
        if after
        else set()
    )
    read_readers(
        transaction, concerned - readers.keys(), all_runs, all_answers, places, naming, memory
    )
    versions = _versions(transaction, [*all_runs.values(), *all_answers.values()], memory)
    _mention(transaction, [*all_runs.values(), *all_answers.values()], versions, memory)
    left = set(changes.gone)
    # A run that was not there before has no links.
    new = {urn: reader for urn, reader in all_runs.items() if urn in changes.new}
    old = {urn: reader for urn, reader in all_runs.items() if urn not in changes.new}
    kinds = (
        (new, None, "create_run_inputs"),
        (old, "remove_run_inputs", "run_inputs"),
        (all_answers, "remove_citations", "citations"),
    )
    for linked, unlink, link in kinds:
        _learn_read(linked.values(), memory)
        wanted = {urn: _wanted(reader, versions) for urn, reader in sorted(linked.items())}
        if unlink is not None:
            rows = [{"consumer": urn, "versions": sorted(links)} for urn, links in wanted.items()]
            left.update(
                row["urn"] for row in run_rows(transaction, f"write/versions/{unlink}", rows)
            )
        rows = [
            _linked(linked[urn], links, is_new=linked is new)
            for urn, links in wanted.items()
            if links
        ]
        run_rows(transaction, f"write/versions/{link}", rows)
    if left:
        for urn in left:
            memory.sources.pop(urn, None)
        transaction.run("write/versions/delete_unused", urns=sorted(left))
        transaction.run("write/datasets/delete_unused_columns", urns=sorted(left))
    return all_runs


def _concerned(transaction: Transaction, changes: RunChanges, memory: Memory) -> set[str]:
    """The runs and answers that may have to be linked to another version because some moved."""
    if changes.moved and memory.newest_reader is None:
        found = transaction.run("read/versions/newest_consumer")[0]
        memory.newest_reader = max(found["at"], default=datetime.min.replace(tzinfo=UTC))
        memory.is_triggering = bool(found["triggers"])
    memory.is_triggering = memory.is_triggering or bool(changes.triggering)
    moved = [version for version in changes.moved if _may_concern(version, changes, memory)]
    rows = [version.row() for version in sorted(moved, key=lambda version: version.artifact)]
    return {row["urn"] for row in run_rows(transaction, "read/versions/affected_consumers", rows)}


def _may_concern(version: Moved, changes: RunChanges, memory: Memory) -> bool:
    """Whether anybody but the readers at hand may have to be linked anew because this version moved: somebody who began
    after it was made, who asked for it by its producer's name, or who was triggered by the run that made it. Whoever
    names the run itself is linked to what that made, wherever it moves."""
    triggers = (
        version.run in changes.triggering if version.run in changes.new else memory.is_triggering
    )
    if version.wanted or triggers:
        return True
    return memory.is_read_since(version.dataset, min(version.instants))


def _learn_read(readers: Iterable[Reader], memory: Memory) -> None:
    for reader in readers:
        for read in reader.reads if reader.at is not None else ():
            memory.learn_read(read.dataset, reader.at)  # type: ignore[arg-type]  # see above


def read_readers(
    transaction: Transaction,
    urns: Iterable[str],
    runs: dict[str, Reader],
    answers: dict[str, Reader],
    places: Places,
    naming: Naming,
    memory: Memory,
) -> None:
    """Add readers as the graph knows them."""
    urns = sorted(urns)
    of_runs = [urn for urn in urns if urn.startswith("run:")]
    run_facts = held(transaction, "runs", RunFacts, of_runs, memory.runs)
    of_answers = [urn for urn in urns if urn.startswith("answer:")]
    answer_facts = held(transaction, "answers", AnswerFacts, of_answers, {})
    learn_names(transaction, places, mentioned(run_facts.values(), answer_facts.values(), naming))
    for urn, run in run_facts.items():
        runs[urn] = run_reader(urn, run, run_view(run, places.names))
    for urn, answer in answer_facts.items():
        answers[urn] = answer_reader(urn, answer_view(answer, naming, places.names))


def mentioned(runs: Iterable[RunFacts], answers: Iterable[AnswerFacts], naming: Naming) -> set[str]:
    """The urns of all datasets that these name, in whatever way."""
    names = {name for answer in answers for name in cited_names(answer, naming)}
    urns: set[str] = set()
    for run in runs:
        urns.update(run.inputs, run.outputs)
        names.update(
            name
            for usage in run.outputs.values()
            for name in (*usage.derived, *(usage.explicit or ()))
        )
    return urns | {dataset_urn(name.namespace, name.name) for name in names}


def _versions(
    transaction: Transaction, readers: list[Reader], memory: Memory
) -> dict[tuple[str, str], list[str]]:
    """(reader urn, dataset urn) -> the urns of the versions it read."""
    asked = [(reader, read) for reader in readers for read in reader.reads if read.pinned is None]
    found = _named_versions(transaction, asked)
    left = [
        pair
        for pair in asked
        if (pair[0].urn, pair[1].dataset) not in found and pair[0].at is not None
    ]
    triggered = _triggered_versions(transaction, [pair for pair in left if pair[0].is_triggered])
    for (reader, read), made in zip(left, _versions_at(transaction, left, memory), strict=True):
        key = (reader.urn, read.dataset)
        later = triggered.get(key)
        # Anything found by time was made before the run's own clock said it began.
        if later and reader.at and later[0] > reader.at:
            made = [later[1]]
        found[key] = made or [source_urn(read.name.namespace, read.name.name)]
    return found


def _versions_at(
    transaction: Transaction, asked: list[tuple[Reader, Read]], memory: Memory
) -> list[list[str]]:
    """The versions that were there when each reader began: from memory, where they are remembered."""
    unknown = sorted({read.dataset for _, read in asked if read.dataset not in memory.timelines})
    for row in (
        transaction.run("read/versions/timelines", urns=unknown, limit=TIMELINE_MAX)
        if unknown
        else []
    ):
        memory.timelines[row["dataset"]] = read_timeline(row["complete"], row["partial"])
    found: list[list[str] | None] = []
    for reader, read in asked:
        timeline = memory.timelines.get(read.dataset)
        found.append(timeline.at(reader.at, reader.urn) if timeline and reader.at else None)
    rows = [
        {"number": number, "consumer": reader.urn, "dataset": read.dataset, "at": reader.at}
        for number, (reader, read) in enumerate(asked)
        if found[number] is None
    ]
    for row in run_rows(transaction, "read/versions/versions_at", rows):
        found[row["number"]] = [
            row[one] for one in ("complete", "partial", "begun") if row[one] is not None
        ]
    return [made or [] for made in found]


def _named_versions(
    transaction: Transaction, asked: list[tuple[Reader, Read]]
) -> dict[tuple[str, str], list[str]]:
    """The versions that were asked for by their producer's name, where something is known to have made them."""
    rows = [
        {"consumer": reader.urn, "dataset": read.dataset, "version": read.version}
        for reader, read in asked
        if read.version
    ]
    found: dict[tuple[str, str], list[str]] = {}
    for row in run_rows(transaction, "read/versions/versions_by_producer_name", rows):
        found[row["consumer"], row["dataset"]] = row["versions"]
    return found


def _triggered_versions(
    transaction: Transaction, asked: list[tuple[Reader, Read]]
) -> dict[tuple[str, str], tuple[datetime, str]]:
    """The newest complete version made by the runs after which a run was to run."""
    rows = [{"consumer": reader.urn, "dataset": read.dataset} for reader, read in asked]
    return {
        (row["consumer"], row["dataset"]): (row["made"], row["version"])
        for row in run_rows(transaction, "read/versions/versions_by_trigger", rows)
    }


def _wanted(
    reader: Reader, versions: Mapping[tuple[str, str], list[str]]
) -> dict[str, tuple[str, Properties]]:
    """By the urn of a version, or of what else an answer cites: its dataset, and what is told of the link."""
    wanted: dict[str, tuple[str, Properties]] = {}
    for read in reader.reads:
        for urn in [read.pinned] if read.pinned else versions.get((reader.urn, read.dataset), []):
            wanted[urn] = (read.dataset, read.properties)
    for urn in (*reader.others, *reader.columns):
        wanted[urn] = ("", {})
    return wanted


def _linked(reader: Reader, links: Mapping[str, tuple[str, Properties]], *, is_new: bool) -> Row:
    """The links of one consumer; of one that was not there before with the versions that came into being of each."""
    rows, into = [], _into(reader.derived) if is_new else {}
    for version, (dataset, properties) in sorted(links.items()):
        properties = mark_version(version, properties)
        if is_new:
            rows.append(
                {
                    "version": version,
                    "properties": without_nulls(properties),
                    "into": into.get(dataset, []),
                }
            )
        else:
            rows.append({"version": version, "properties": properties})
    return {"consumer": reader.urn, "links": rows}


def _into(derived: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """By the dataset that they come from, the versions that a run made."""
    into: dict[str, list[str]] = {}
    for urn, datasets in derived.items():
        for dataset in datasets:
            into.setdefault(dataset, []).append(urn)
    return into


def _mention(
    transaction: Transaction,
    readers: list[Reader],
    versions: Mapping[tuple[str, str], list[str]],
    memory: Memory,
) -> None:
    sources: dict[str, Row] = {}
    artifacts: dict[str, Row] = {}
    columns: dict[str, Row] = {}
    for reader in readers:
        for read in reader.reads:
            if read.pinned is not None:
                properties = _artifact_properties(read.pinned, read.name, read.dataset)
                artifacts[read.pinned] = _mentioned(read.pinned, read.dataset, properties)
            source = source_urn(read.name.namespace, read.name.name)
            if source not in memory.sources and source in versions.get(
                (reader.urn, read.dataset), []
            ):
                sources[source] = _mentioned(source, read.dataset, source_properties(read.name))
        for urn, (dataset, properties) in reader.columns.items():
            columns[urn] = _mentioned(urn, dataset, properties)
    for statement, rows in (
        ("versions/ensure_sources", sources),
        ("versions/ensure_artifacts", artifacts),
        ("datasets/ensure_columns", columns),
    ):
        run_rows(transaction, f"write/{statement}", [rows[urn] for urn in sorted(rows)])
    memory.sources.update(dict.fromkeys(sources))


def _mentioned(urn: str, dataset: str, properties: Properties) -> Row:
    return {"urn": urn, "dataset": dataset, "properties": properties}


def _artifact_properties(urn: str, name: Name, dataset: str) -> Properties:
    parts = parse_urn(urn).parts
    run_id = parts[2] if parts else None
    return {
        "namespace": display_name(name.namespace),
        "name": display_name(name.name),
        "dataset": dataset,
        "runId": display_name(run_id) if run_id else None,
    }
