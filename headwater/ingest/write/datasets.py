"""The datasets of a delta: their stored and joined facts, and names that became one dataset.

Each other name of a dataset is a `Symlink` node with its own facts. The `Dataset` node shows the
facts of all its names. When names are joined or split, `rebind_aliases` deletes the edges and
versions made under the old names. The same transaction writes them again from the facts. So nothing
is lost, and a late symlink gives the same graph as an early one. If the name is not in use, the
dataset keeps its edges and versions, and only the nodes change (`used_aliases`).
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
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.rows import decode_facts, write_rows
from headwater.schema.dataset_aliases import canonical_urns
from headwater.schema.dataset_labels import MODEL
from headwater.schema.facts import DatasetFacts, Name, join_datasets
from headwater.schema.urns import parse_urn, schema_urn

# (the joined facts before, the joined facts now), by canonical urn.
_FactPairs = Mapping[str, tuple[DatasetFacts | None, DatasetFacts]]
_ViewPairs = Mapping[str, tuple[DatasetView | None, DatasetView]]


@dataclass
class DetachedEdges:
    """The edges of joined or split datasets as they were, and the urns of their ends.

    Runs, jobs and answers are written again as if the graph did not have them.
    """

    runs: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    edges: list[Row] = field(default_factory=list)


@dataclass
class DatasetBatch:
    """The datasets of a delta, by the urns of their names.

    `stored` are the facts in the graph, `members` the facts after the join, `changed` those that
    differ. `previous_urn` and `canonical_urn` map each name to its dataset before and now; `names`
    has the canonical names of all aliases, those of further datasets included.
    """

    changed: dict[str, DatasetFacts] = field(default_factory=dict)
    members: dict[str, DatasetFacts] = field(default_factory=dict)
    stored: dict[str, DatasetFacts] = field(default_factory=dict)
    previous_urn: dict[str, str] = field(default_factory=dict)
    canonical_urn: dict[str, str] = field(default_factory=dict)
    names: dict[str, Name] = field(default_factory=dict)
    detached: DetachedEdges = field(default_factory=DetachedEdges)
    # Set by `write_datasets`: the datasets that became or no longer are models.
    relabelled: set[str] = field(default_factory=set)

    def canonical_name(self, urn: str) -> Name | None:
        """Return the canonical name of a dataset.

        None for a hashed urn that is neither an alias nor in the batch.
        """
        if urn in self.names:
            return self.names[urn]
        if urn in self.members:
            return self.members[urn].dataset
        parts = parse_urn(urn).parts
        return Name(*parts) if parts else None

    @property
    def rebound(self) -> list[str]:
        """Return the names that now belong to another dataset."""
        return [
            urn for urn, before in self.previous_urn.items() if self.canonical_urn[urn] != before
        ]

    @property
    def rebound_aliases(self) -> dict[str, str]:
        """Return the datasets that they belonged to, for those that were other names of one."""
        before = self.previous_urn
        return {urn: before[urn] for urn in self.rebound if before[urn] != urn}

    @property
    def regrouped(self) -> set[str]:
        """Return the datasets that gained or lost other names."""
        rebound = self.rebound
        datasets = {self.canonical_urn[self.previous_urn[urn]] for urn in rebound}
        return datasets | {self.canonical_urn[urn] for urn in rebound}

    def joined(self, urn: str) -> DatasetFacts:
        """Return the facts of a dataset under all its names."""
        return _join_aliases(urn, self.members, self._aliases)

    def joined_before(self, urn: str) -> DatasetFacts | None:
        """Return its facts in the graph; None for a new, joined or split dataset."""
        if urn not in self.stored or self.previous_urn.get(urn) != urn:
            return None
        return _join_aliases(urn, self.stored, self._previous_aliases)

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        return _aliases(self.canonical_urn)

    @cached_property
    def _previous_aliases(self) -> dict[str, list[str]]:
        return _aliases(self.previous_urn)


def _aliases(canonical_urn: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the other names of each dataset, by canonical urn."""
    aliases: dict[str, list[str]] = defaultdict(list)
    for urn, canonical in canonical_urn.items():
        if urn != canonical:
            aliases[canonical].append(urn)
    return aliases


def join_members(urn: str, members: Mapping[str, DatasetFacts]) -> DatasetFacts:
    """Return the facts under all names of the dataset with this canonical urn."""
    return _join_all(members[urn], [facts for name, facts in members.items() if name != urn])


def _join_aliases(
    urn: str, facts: Mapping[str, DatasetFacts], aliases: Mapping[str, list[str]]
) -> DatasetFacts:
    return _join_all(facts[urn], [facts[alias] for alias in aliases.get(urn, ())])


def _join_all(own: DatasetFacts, others: list[DatasetFacts]) -> DatasetFacts:
    if not others:
        return own
    return msgspec.structs.replace(reduce(join_datasets, others, own), dataset=own.dataset)


def read_datasets(
    transaction: Transaction,
    facts: Mapping[str, DatasetFacts],
    cache: WriteCache,
    *,
    refold: bool = False,
) -> DatasetBatch:
    """Return the stored facts of these datasets joined with new ones.

    In a refold all of these datasets count as changed.
    """
    stored, previous_urn = _read_stored(transaction, facts, cache)
    members, changed = dict(stored), {}
    for urn in sorted(facts):
        old = stored.get(urn)
        new = facts[urn] if old is None else join_datasets(old, facts[urn])
        members[urn] = new
        if refold or old != new:
            changed[urn] = new
    canonical_urn = canonical_urns(members)
    names = {
        urn: members[canonical].dataset
        for urn, canonical in canonical_urn.items()
        if urn != canonical
    }
    return DatasetBatch(changed, members, stored, previous_urn, canonical_urn, names)


def _read_stored(
    transaction: Transaction, urns: Iterable[str], cache: WriteCache
) -> tuple[dict[str, DatasetFacts], dict[str, str]]:
    """Return the stored facts of these datasets under every name, and the canonical urns."""
    stored: dict[str, DatasetFacts] = {}
    previous_urn: dict[str, str] = {}
    unknown = []
    for urn in urns:
        canonical = cache.canonical_urn(urn)
        if canonical is None:
            unknown.append(urn)
        elif urn not in stored:
            stored.update(cache.datasets[canonical])
            previous_urn.update(dict.fromkeys(cache.datasets[canonical], canonical))
    for row in transaction.run("read/nodes/alias_groups", urns=sorted(unknown)) if unknown else []:
        stored[row["urn"]] = decode_facts(row["facts"], DatasetFacts)
        previous_urn[row["urn"]] = row["canonical"]
    return stored, previous_urn


def rebind_aliases(
    transaction: Transaction, datasets: DatasetBatch, used: set[str], cache: WriteCache
) -> None:
    """Delete the edges and versions of joined or split datasets, and change labels of their nodes.

    A dataset whose canonical name stays has edges and versions of a name that leaves it only if
    that name is one of `used`. Otherwise only its node changes.

    Clears the cache, which must have no deferred updates.
    """
    rebound, previous_urn = datasets.rebound, datasets.previous_urn
    cache.clear()
    _detach(
        transaction,
        datasets,
        sorted({previous_urn[urn] for urn in rebound if urn in used or previous_urn[urn] == urn}),
    )
    demoted = sorted(urn for urn in rebound if previous_urn[urn] == urn)
    promoted = sorted(urn for urn in rebound if datasets.canonical_urn[urn] == urn)
    if demoted:
        transaction.run("write/aliases/datasets_to_symlinks", urns=demoted)
    if promoted:
        transaction.run("write/aliases/symlinks_to_datasets", urns=promoted)
    for canonical in sorted(datasets.regrouped):
        datasets.changed.setdefault(canonical, datasets.members[canonical])


def _detach(transaction: Transaction, datasets: DatasetBatch, old: list[str]) -> None:
    """Delete the edges and versions of these datasets, which are written as if for the first time.

    The batch keeps the edges in `detached`, and forgets the stored facts of the datasets.
    """
    if not old:
        return
    detached = datasets.detached
    for row in transaction.run("read/write_path/consumers_to_rebind", urns=old):
        kind = detached.runs if row["urn"].startswith("run:") else detached.answers
        kind.add(row["urn"])
    detached.edges = transaction.run("read/write_path/edges_to_rebind", urns=old)
    for edge in detached.edges:
        ends = {edge["source"], edge["target"], edge["properties"].get("job") or ""}
        detached.jobs |= {urn for urn in ends if urn.startswith("job:")}
    for statement in ("delete_versions", "delete_columns", "delete_edges", "remove_labels"):
        transaction.run(f"write/aliases/{statement}", urns=old)
    for urn in old:
        datasets.stored.pop(urn, None)


def resolve_names(transaction: Transaction, datasets: DatasetBatch, urns: Iterable[str]) -> None:
    """Add the canonical names of further datasets to the batch."""
    unknown = sorted({urn for urn in urns if urn not in datasets.canonical_urn})
    for row in transaction.run("read/nodes/canonical_datasets", urns=unknown) if unknown else []:
        parts = parse_urn(row["canonical"]).parts
        datasets.names[row["urn"]] = (
            Name(*parts) if parts else decode_facts(row["facts"], DatasetFacts).dataset
        )


def write_datasets(transaction: Transaction, datasets: DatasetBatch, cache: WriteCache) -> None:
    """Write changed datasets with their aliases, columns, schemas and sources.

    Updates that change only last-seen times are deferred in the cache.
    """
    _cache_datasets(datasets, cache)
    canonicals = sorted({datasets.canonical_urn[urn] for urn in datasets.changed})
    joined = {urn: (datasets.joined_before(urn), datasets.joined(urn)) for urn in canonicals}
    regrouped = datasets.regrouped
    seen_only = {
        urn
        for urn, (old, new) in joined.items()
        if old is not None and urn not in regrouped and is_repeated_observation(old, new)
    }
    facts = {urn: pair for urn, pair in joined.items() if urn not in seen_only}
    # Facts of an alias are written at once: after that, a deferred update would not be noticed.
    with_alias = {
        canonical for urn in datasets.changed if (canonical := datasets.canonical_urn[urn]) != urn
    }
    for urn in canonicals:
        if urn in seen_only and urn not in with_alias:
            cache.deferred.datasets.setdefault(urn, cache.position)
        else:
            cache.deferred.datasets.pop(urn, None)
    views = {
        urn: (dataset_view(old) if old else None, dataset_view(new, own=datasets.members[urn]))
        for urn, (old, new) in facts.items()
    }
    nodes = [
        {
            "urn": urn,
            "properties": new.node,
            "isVisibleChange": differs_visibly(old.node if old else None, new.node),
        }
        for urn, (old, new) in views.items()
    ]
    nodes += [
        last_seen_row(urn, joined[urn][1], datasets.members[urn])
        for urn in sorted(seen_only & with_alias)
    ]
    write_rows(transaction, "write/datasets/datasets", nodes)
    _write_labels(transaction, datasets, views)
    write_rows(transaction, "write/aliases/symlinks", _alias_rows(datasets))
    _write_columns(transaction, views)
    _write_schemas(transaction, facts)
    _write_sources(transaction, views)


def _cache_datasets(datasets: DatasetBatch, cache: WriteCache) -> None:
    groups: dict[str, dict[str, DatasetFacts]] = {}
    for urn, canonical in datasets.canonical_urn.items():
        groups.setdefault(canonical, {})[urn] = datasets.members[urn]
    for canonical, members in groups.items():
        cache.put_dataset(canonical, members)


def _alias_rows(datasets: DatasetBatch) -> list[Row]:
    """Return the aliases that are new, changed or names of another dataset than before."""
    rows = []
    for urn, facts in sorted(datasets.members.items()):
        canonical = datasets.canonical_urn[urn]
        is_changed = urn in datasets.changed or datasets.previous_urn.get(urn) != canonical
        if canonical != urn and is_changed:
            node = dataset_view(facts).node
            properties = {key: node[key] for key in ("namespace", "name", "facts")}
            rows.append({"urn": urn, "canonical": canonical, "properties": properties})
    return rows


def _write_labels(transaction: Transaction, datasets: DatasetBatch, views: _ViewPairs) -> None:
    """Write the labels by type that changed. `rebind_aliases` has removed those of `detached`."""
    rows = []
    for urn, (old, new) in views.items():
        before = old.label if old else None
        if new.label == before:
            continue
        rows.append({"urn": urn, "labels": [new.label] if new.label else []})
        if MODEL in (before, new.label):
            datasets.relabelled.add(urn)
    write_rows(transaction, "write/datasets/labels", rows)


def _write_columns(transaction: Transaction, views: _ViewPairs) -> None:
    columns, retired = [], []
    for urn, (old, new) in views.items():
        old_columns = old.columns if old else {}
        columns += [
            {"urn": column, "dataset": urn, "properties": properties}
            for column, properties in new.columns.items()
            if old_columns.get(column) != properties
        ]
        retired += sorted(old_columns.keys() - new.columns.keys())
    write_rows(transaction, "write/datasets/columns", columns)
    if retired:
        transaction.run("write/datasets/retire_columns", urns=retired)
        transaction.run("write/datasets/delete_unused_columns", urns=retired)


def _write_sources(transaction: Transaction, views: _ViewPairs) -> None:
    rows, withdrawn = [], []
    for urn, (old, new) in views.items():
        source = new.source_urn
        if new.source is not None:
            rows.append({"urn": source, "dataset": urn, "properties": new.source})
        elif old is not None and old.source is not None:
            properties = {**UNREGISTERED_SOURCE, "registered": False}
            rows.append({"urn": source, "dataset": urn, "properties": properties})
            withdrawn.append(source)
    write_rows(transaction, "write/versions/sources", rows)
    if withdrawn:
        transaction.run("write/versions/delete_unused", urns=withdrawn)


def _write_schemas(transaction: Transaction, facts: _FactPairs) -> None:
    rows, removed = [], []
    for urn, (old, new) in facts.items():
        before = old.schemas if old else {}
        for hash, span in sorted(new.schemas.items()):
            if hash not in before or span.first != before[hash].first:
                first = time_at(span.first)
                rows.append({"dataset": urn, "schema": schema_urn(hash), "first": first})
        # A name that left the dataset had these.
        lost = sorted(before.keys() - new.schemas.keys())
        removed += [{"dataset": urn, "schema": schema_urn(hash)} for hash in lost]
    write_rows(transaction, "write/datasets/dataset_schemas", rows)
    write_rows(transaction, "write/datasets/remove_dataset_schemas", removed)
