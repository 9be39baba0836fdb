"""Which version of a dataset a run read and an answer cites: the one projection that spans entities.

A reader is linked to the newest complete version made before it began, and to the newest one that a failed or
unfinished run left after that one (it may have read either, and the one must not hide the other). Where nothing was
made before, it read the first version that was already being made, or else a Source. When an event names the version,
that version is taken.

Because a version may turn up, fail or move in time after its readers are known, every reader that a change can
concern is linked afresh, from its own facts, in the same transaction. So links too are a function of the set of
events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from headwater.cypher.database import Row, Transaction
from headwater.ingest.project import (
    AnswerView,
    Properties,
    RunView,
    answer_view,
    column_properties,
    run_view,
    source_properties,
)
from headwater.schema.facts import AnswerFacts, Name, RunFacts
from headwater.schema.urns import parse_urn, shown, source_urn


class Moved(msgspec.Struct, frozen=True):
    """A version that appeared or changed: the instants at which it was and is made."""

    artifact: str
    dataset: str
    instants: tuple[datetime, ...]

    def row(self) -> Row:
        return {**msgspec.structs.asdict(self), "instants": list(self.instants), "since": min(self.instants)}


class Reader(msgspec.Struct):
    """A run or an answer, when it began, and what it reads: (dataset urn, its name, pinned version, properties)."""

    urn: str
    at: datetime | None
    reads: list[tuple[str, Name, str | None, Properties]]
    others: list[str] = []
    columns: dict[str, tuple[str, Properties]] = {}


def moved_versions(old: RunView | None, new: RunView) -> list[Moved]:
    """The versions of a run whose place among the versions of their dataset is not what it was."""
    moved = []
    for urn, now in new.artifacts.items():
        before = old.artifacts.get(urn) if old else None
        if before and all(before[key] == now[key] for key in ("startedAt", "createdAt", "complete")):
            continue
        times = (side[key] for side in (before, now) if side for key in ("startedAt", "createdAt"))
        instants = {time for time in times if time}
        if instants:
            moved.append(Moved(urn, now["dataset"], tuple(sorted(instants))))
    return moved


def run_reader(urn: str, facts: RunFacts, view: RunView) -> Reader:
    reads = [(use.dataset, facts.inputs[use.dataset].dataset, use.pinned, use.properties) for use in view.uses]
    return Reader(urn, view.node["startedAt"], reads)


def answer_reader(urn: str, view: AnswerView) -> Reader:
    reader = Reader(urn, view.node.get("generatedAt"), [])
    for citation in view.citations:
        if citation.answer:
            reader.others.append(citation.answer)
            continue
        name = Name(*citation.name)
        properties = {"pinned": True} if citation.pinned else {"pinned": None}
        reader.reads.append((citation.dataset, name, citation.pinned, properties))
        if citation.column and citation.field:
            reader.columns[citation.column] = (citation.dataset, column_properties(name, citation.field))
    return reader


def relink(
    transaction: Transaction, runs: Mapping[str, Reader], answers: Mapping[str, Reader], moved: Iterable[Moved]
) -> set[str]:
    """Link these readers, and all others that the moved versions concern. Returns the urns of the runs linked."""
    all_runs, all_answers = dict(runs), dict(answers)
    _add_concerned(transaction, all_runs, all_answers, sorted(moved, key=lambda version: version.artifact))
    versions = _versions(transaction, [*all_runs.values(), *all_answers.values()])
    _mention(transaction, [*all_runs.values(), *all_answers.values()], versions)
    left: set[str] = set()
    for readers, unlink, link in ((all_runs, "unlink_runs", "feeds"), (all_answers, "unlink_answers", "cited_by")):
        wanted = {urn: _wanted(reader, versions) for urn, reader in sorted(readers.items())}
        rows = [{"consumer": urn, "versions": sorted(links)} for urn, links in wanted.items()]
        left.update(row["urn"] for row in run_rows(transaction, f"write/{unlink}", rows))
        links = [
            {"consumer": urn, "version": version, "properties": properties}
            for urn, versions_of in wanted.items()
            for version, properties in sorted(versions_of.items())
        ]
        run_rows(transaction, f"write/{link}", links)
    if left:
        transaction.run("write/sweep_versions", urns=sorted(left))
        transaction.run("write/sweep_columns", urns=sorted(left))
    return set(all_runs)


def _add_concerned(
    transaction: Transaction, runs: dict[str, Reader], answers: dict[str, Reader], moved: list[Moved]
) -> None:
    rows = run_rows(transaction, "read/consumers_to_relink", [version.row() for version in moved])
    urns = sorted({row["urn"] for row in rows} - runs.keys() - answers.keys())
    for row in _facts(transaction, "runs", [urn for urn in urns if urn.startswith("run:")]):
        run = msgspec.json.decode(row["facts"], type=RunFacts)
        runs[row["urn"]] = run_reader(row["urn"], run, run_view(run))
    for row in _facts(transaction, "answers", [urn for urn in urns if urn.startswith("answer:")]):
        answer = msgspec.json.decode(row["facts"], type=AnswerFacts)
        answers[row["urn"]] = answer_reader(row["urn"], answer_view(answer))


def _facts(transaction: Transaction, kind: str, urns: list[str]) -> list[Row]:
    return transaction.run(f"read/facts_of_{kind}", urns=urns) if urns else []


def _versions(transaction: Transaction, readers: list[Reader]) -> dict[tuple[str, str], list[str]]:
    """(reader urn, dataset urn) -> the urns of the versions it read."""
    pairs = [
        (reader, dataset, name)
        for reader in readers
        for dataset, name, pinned, _ in reader.reads
        if pinned is None and reader.at is not None
    ]
    rows = [
        {"number": number, "consumer": reader.urn, "dataset": dataset, "at": reader.at}
        for number, (reader, dataset, _) in enumerate(pairs)
    ]
    found: dict[tuple[str, str], list[str]] = {}
    for row in run_rows(transaction, "read/versions_at", rows):
        reader, dataset, name = pairs[row["number"]]
        made = [urn for urn in (row["complete"], row["partial"], row["begun"]) if urn is not None]
        found[(reader.urn, dataset)] = made or [source_urn(name.namespace, name.name)]
    return found


def _wanted(reader: Reader, versions: Mapping[tuple[str, str], list[str]]) -> dict[str, Properties]:
    wanted: dict[str, Properties] = {}
    for dataset, _, pinned, properties in reader.reads:
        for urn in [pinned] if pinned else versions.get((reader.urn, dataset), []):
            wanted[urn] = properties
    for urn in (*reader.others, *reader.columns):
        wanted[urn] = {}
    return wanted


def _mention(transaction: Transaction, readers: list[Reader], versions: Mapping[tuple[str, str], list[str]]) -> None:
    sources: dict[str, Row] = {}
    artifacts: dict[str, Row] = {}
    columns: dict[str, Row] = {}
    for reader in readers:
        for dataset, name, pinned, _ in reader.reads:
            if pinned is not None:
                artifacts[pinned] = _mentioned(pinned, dataset, _artifact_properties(pinned, name, dataset))
            source = source_urn(name.namespace, name.name)
            if source in versions.get((reader.urn, dataset), []):
                sources[source] = _mentioned(source, dataset, source_properties(name))
        for urn, (dataset, properties) in reader.columns.items():
            columns[urn] = _mentioned(urn, dataset, properties)
    for kind, rows in (("sources", sources), ("artifacts", artifacts), ("columns", columns)):
        run_rows(transaction, f"write/mention_{kind}", [rows[urn] for urn in sorted(rows)])


def _mentioned(urn: str, dataset: str, properties: Properties) -> Row:
    return {"urn": urn, "dataset": dataset, "properties": properties}


def _artifact_properties(urn: str, name: Name, dataset: str) -> Properties:
    parts = parse_urn(urn).parts
    run_id = parts[2] if parts else None
    return {
        "namespace": shown(name.namespace),
        "name": shown(name.name),
        "dataset": dataset,
        "runId": shown(run_id) if run_id else None,
    }


def run_rows(transaction: Transaction, name: str, rows: list[Any]) -> list[Row]:
    """Run a statement over some rows, and not at all over none."""
    return transaction.run(name, rows=rows) if rows else []
