"""The datasets of a delta: what the graph holds of them, what it must hold, and which names have become one dataset.

A name that goes by another is a `Symlink` node that keeps its own facts; the `Dataset` node shows what is said under
all its names. When names are joined, or parted again, what was made under the old names is taken apart (`dissolve`)
and made afresh from the facts, in the same transaction: so nothing is lost, and a late symlink gives the same graph
as an early one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce

import msgspec

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.project import (
    UNREGISTERED_SOURCE,
    DatasetView,
    dataset_view,
    differs_visibly,
    is_repeated_observation,
    last_seen_row,
    time_at,
)
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.rows import facts_in, run_rows
from headwater.schema.dataset_aliases import canonical_urns
from headwater.schema.facts import DatasetFacts, Name, join_datasets
from headwater.schema.urns import parse_urn, schema_urn


@dataclass
class Dissolved:
    """What was made under names that are no longer apart, or no longer one: runs, jobs and answers to make afresh, and
    the edges of the map as they were."""

    runs: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    edges: list[Row] = field(default_factory=list)


@dataclass
class Places:
    """The datasets of a delta. All keys are urns of names; `names` holds those that go by another."""

    changed: dict[str, DatasetFacts]
    members: dict[str, DatasetFacts]
    stored: dict[str, DatasetFacts]
    went_by: dict[str, str]
    goes_by: dict[str, str]
    names: dict[str, Name] = field(default_factory=dict)
    dissolved: Dissolved = field(default_factory=Dissolved)

    @property
    def moved(self) -> list[str]:
        """The names that go by another than they did."""
        return [urn for urn, before in self.went_by.items() if self.goes_by[urn] != before]

    def whole(self, urn: str) -> DatasetFacts:
        """Everything said of a dataset under any of its names."""
        return _whole(urn, self.members, self._others)

    def whole_before(self, urn: str) -> DatasetFacts | None:
        """What was said of it before, unless it was another dataset then, or has been taken apart."""
        if urn not in self.stored or self.went_by.get(urn) != urn:
            return None
        return _whole(urn, self.stored, self._others_before)

    @cached_property
    def _others(self) -> dict[str, list[str]]:
        return _others(self.goes_by)

    @cached_property
    def _others_before(self) -> dict[str, list[str]]:
        return _others(self.went_by)


def _others(goes_by: Mapping[str, str]) -> dict[str, list[str]]:
    """By the urn that a dataset goes by: its other names."""
    others: dict[str, list[str]] = defaultdict(list)
    for urn, canonical in goes_by.items():
        if urn != canonical:
            others[canonical].append(urn)
    return others


def whole_of(urn: str, members: Mapping[str, DatasetFacts]) -> DatasetFacts:
    """Everything said under the names of the dataset that goes by this one."""
    return _joined(members[urn], [facts for name, facts in members.items() if name != urn])


def _whole(
    urn: str, facts: Mapping[str, DatasetFacts], others: Mapping[str, list[str]]
) -> DatasetFacts:
    return _joined(facts[urn], [facts[member] for member in others.get(urn, ())])


def _joined(own: DatasetFacts, others: list[DatasetFacts]) -> DatasetFacts:
    if not others:
        return own
    return msgspec.structs.replace(reduce(join_datasets, others, own), dataset=own.dataset)


def read_places(
    transaction: Transaction, said: Mapping[str, DatasetFacts], memory: Memory
) -> Places:
    """What the graph holds of these datasets, joined with what is said of them."""
    stored, went_by = _stored(transaction, said, memory)
    members, changed = dict(stored), {}
    for urn in sorted(said):
        old = stored.get(urn)
        new = said[urn] if old is None else join_datasets(old, said[urn])
        members[urn] = new
        if old != new:
            changed[urn] = new
    now = canonical_urns(members)
    places = Places(changed, members, stored, went_by, now)
    places.names.update(
        {urn: members[canonical].dataset for urn, canonical in now.items() if urn != canonical}
    )
    return places


def _stored(
    transaction: Transaction, said: Iterable[str], memory: Memory
) -> tuple[dict[str, DatasetFacts], dict[str, str]]:
    """What the graph holds of these datasets, under every name they have, and what the names go by."""
    stored: dict[str, DatasetFacts] = {}
    went_by: dict[str, str] = {}
    unknown = []
    for urn in said:
        canonical = memory.goes_by(urn)
        if canonical is None:
            unknown.append(urn)
        elif urn not in stored:
            stored.update(memory.datasets[canonical])
            went_by.update(dict.fromkeys(memory.datasets[canonical], canonical))
    for row in transaction.run("read/nodes/alias_groups", urns=sorted(unknown)) if unknown else []:
        stored[row["urn"]] = facts_in(row["facts"], DatasetFacts)
        went_by[row["urn"]] = row["canonical"]
    return stored, went_by


def regroup(transaction: Transaction, places: Places, memory: Memory) -> None:
    """Take apart what was made under names that now go by another, and turn nodes into what they are now. Nothing may
    wait in `memory`, which forgets all."""
    moved = places.moved
    memory.forget()
    old = sorted({places.went_by[urn] for urn in moved})
    rows = transaction.run("read/write_path/consumers_to_rebind", urns=old)
    for row in rows:
        kind = places.dissolved.runs if row["urn"].startswith("run:") else places.dissolved.answers
        kind.add(row["urn"])
    places.dissolved.edges = transaction.run("read/write_path/edges_to_rebind", urns=old)
    for edge in places.dissolved.edges:
        named = {edge["source"], edge["target"], edge["properties"].get("job") or ""}
        places.dissolved.jobs |= {urn for urn in named if urn.startswith("job:")}
    for statement in ("delete_versions", "delete_columns", "delete_edges"):
        transaction.run(f"write/aliases/{statement}", urns=old)
    demoted = sorted(urn for urn in moved if places.went_by[urn] == urn)
    promoted = sorted(urn for urn in moved if places.goes_by[urn] == urn)
    for statement, urns in (
        ("datasets_to_symlinks", demoted),
        ("symlinks_to_datasets", promoted),
    ):
        if urns:
            transaction.run(f"write/aliases/{statement}", urns=urns)
    # What is written for a dataset that was taken apart is written as if for the first time.
    for urn in old:
        places.stored.pop(urn, None)
    for urn in {*old, *(places.goes_by[urn] for urn in moved)}:
        canonical = places.goes_by[urn]
        places.changed.setdefault(canonical, places.members[canonical])


def learn_names(transaction: Transaction, places: Places, urns: Iterable[str]) -> None:
    """Add the names by which further datasets go."""
    unknown = sorted({urn for urn in urns if urn not in places.goes_by})
    for row in transaction.run("read/nodes/canonical_datasets", urns=unknown) if unknown else []:
        parts = parse_urn(row["canonical"]).parts
        places.names[row["urn"]] = (
            Name(*parts) if parts else facts_in(row["facts"], DatasetFacts).dataset
        )


def write_places(transaction: Transaction, places: Places, memory: Memory) -> None:
    """Write the nodes of the datasets that changed, their other names, columns, schemas and sources. Those of which
    nothing is new but when they were seen wait in `memory`."""
    groups: dict[str, dict[str, DatasetFacts]] = {}
    for urn, name in places.goes_by.items():
        groups.setdefault(name, {})[urn] = places.members[urn]
    for name, members in groups.items():
        memory.learn_dataset(name, members)
    canonicals = sorted({places.goes_by[urn] for urn in places.changed})
    told = {urn: (places.whole_before(urn), places.whole(urn)) for urn in canonicals}
    again = {
        urn
        for urn, (old, new) in told.items()
        if old is not None and is_repeated_observation(old, new)
    }
    facts = {urn: pair for urn, pair in told.items() if urn not in again}
    # Facts of other names are written at once: by them it would not be seen any more that this was put off.
    told_otherwise = {
        canonical for urn in places.changed if (canonical := places.goes_by[urn]) != urn
    }
    for urn in canonicals:
        if urn in again and urn not in told_otherwise:
            memory.seen.datasets.setdefault(urn, memory.position)
        else:
            memory.seen.datasets.pop(urn, None)
    views = {
        urn: (dataset_view(old) if old else None, dataset_view(new, own=places.members[urn]))
        for urn, (old, new) in facts.items()
    }
    nodes = [
        {
            "urn": urn,
            "properties": new.node,
            "shown": differs_visibly(old.node if old else None, new.node),
        }
        for urn, (old, new) in views.items()
    ]
    nodes += [
        last_seen_row(urn, told[urn][1], places.members[urn])
        for urn in sorted(again & told_otherwise)
    ]
    run_rows(transaction, "write/datasets/datasets", nodes)
    aliases = [
        {"urn": urn, "canonical": canonical, "properties": _alias(facts)}
        for urn, facts in sorted(places.members.items())
        if (canonical := places.goes_by[urn]) != urn
        and (urn in places.changed or places.went_by.get(urn) != canonical)
    ]
    run_rows(transaction, "write/aliases/symlinks", aliases)
    _write_columns(transaction, views)
    _write_schemas(transaction, facts)
    _write_sources(transaction, views)


def _alias(facts: DatasetFacts) -> Row:
    node = dataset_view(facts).node
    return {key: node[key] for key in ("namespace", "name", "facts")}


def _write_columns(
    transaction: Transaction, views: Mapping[str, tuple[DatasetView | None, DatasetView]]
) -> None:
    columns, dropped = [], []
    for urn, (old, new) in views.items():
        known = old.columns if old else {}
        columns += [
            {"urn": column, "dataset": urn, "properties": properties}
            for column, properties in new.columns.items()
            if known.get(column) != properties
        ]
        dropped += sorted(known.keys() - new.columns.keys())
    run_rows(transaction, "write/datasets/columns", columns)
    if dropped:
        transaction.run("write/datasets/retire_columns", urns=dropped)
        transaction.run("write/datasets/delete_unused_columns", urns=dropped)


def _write_sources(
    transaction: Transaction, views: Mapping[str, tuple[DatasetView | None, DatasetView]]
) -> None:
    rows, withdrawn = [], []
    for urn, (old, new) in views.items():
        source = new.source_urn
        if new.source is not None:
            rows.append({"urn": source, "dataset": urn, "properties": new.source})
        elif old is not None and old.source is not None:
            rows.append(
                {
                    "urn": source,
                    "dataset": urn,
                    "properties": {**UNREGISTERED_SOURCE, "registered": False},
                }
            )
            withdrawn.append(source)
    run_rows(transaction, "write/versions/sources", rows)
    if withdrawn:
        transaction.run("write/versions/delete_unused", urns=withdrawn)


def _write_schemas(
    transaction: Transaction, facts: Mapping[str, tuple[DatasetFacts | None, DatasetFacts]]
) -> None:
    rows = [
        {"dataset": urn, "schema": schema_urn(hash), "first": time_at(span.first)}
        for urn, (old, new) in facts.items()
        for hash, span in sorted(new.schemas.items())
        if old is None or hash not in old.schemas or span.first < old.schemas[hash].first
    ]
    run_rows(transaction, "write/datasets/dataset_schemas", rows)
