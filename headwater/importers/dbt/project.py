"""The tables of a dbt project: their names, what each reads, and where its columns come from.

An ephemeral model is no table; what reads it reads the tables behind it. The columns come from the
compiled SQL of each model, from the declared lineage in its `meta`, and from the catalog.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from headwater.code_analysis.dbt.references import references_in_model
from headwater.code_analysis.model import ALL, References, TableName
from headwater.code_analysis.names import fold_case, name_parts
from headwater.code_analysis.sql.parse import dialect_of
from headwater.code_analysis.sql.references import references_in_sql
from headwater.code_analysis.suffix_index import SuffixIndex
from headwater.importers.dbt.artifacts import Artifacts, Node
from headwater.importers.dbt.declared_lineage import DeclaredLineageError, Place, flows_of
from headwater.importers.events import DatasetName, Field
from headwater.importers.report import ImportReport

BUILT = ("model", "seed", "snapshot")
_TABLES = (*BUILT, "source")
_WORD = re.compile(r"\w+")


@dataclass
class TableLineage:
    """What one table is made from.

    inputs: the datasets that it reads.
    direct: the columns that each of its columns comes from.
    indirect: the columns that decide over its rows.
    outputs: its columns in order, if the SQL shows all of them."""

    inputs: set[DatasetName] = field(default_factory=set)
    direct: dict[str, set[Field]] = field(default_factory=lambda: defaultdict(set))
    indirect: set[Field] = field(default_factory=set)
    outputs: tuple[str, ...] = ()


class Project:
    """The tables of a project and their lineage.

    Args:
        artifacts: The artifacts of dbt.
        namespace: Namespace of the datasets.
        report: Takes the nodes whose lineage cannot be read.
    """

    def __init__(self, artifacts: Artifacts, namespace: str, report: ImportReport) -> None:
        self.artifacts = artifacts
        self.namespace = namespace
        self._report = report
        self._outputs: dict[str, tuple[str, ...]] = {}
        # The columns of tables as they are spelled, by folded name.
        self._spellings: dict[str, dict[str, str]] = {}

    def is_table(self, unique_id: str) -> bool:
        """Return True for a model, seed, snapshot or source that is a table or a view."""
        node = self.artifacts.nodes.get(unique_id)
        return (
            node is not None
            and node.resource_type in _TABLES
            and node.option("materialized") != "ephemeral"
        )

    def table_name(self, node: Node) -> TableName:
        """Return the name of a table in its database."""
        return tuple(part for part in (node.database, node.schema, node.table) if part)

    def dataset(self, unique_id: str) -> DatasetName:
        """Return the dataset of a table."""
        return self.namespace, ".".join(self.table_name(self.artifacts.nodes[unique_id]))

    def symlink(self, node: Node) -> DatasetName | None:
        """Return the other name of a source: openlineage-dbt takes its name in dbt."""
        if node.resource_type != "source" or node.identifier in (None, "", node.name):
            return None
        parts = (node.database, node.schema, node.name)
        return self.namespace, ".".join(part for part in parts if part)

    def tables_behind(self, unique_id: str) -> list[str]:
        """Return the ids of the tables that a node depends on, through nodes that are none."""
        return list(self._tables_behind(unique_id, self._behind_shared))

    def _tables_behind(
        self, unique_id: str, known: Mapping[str, Mapping[str, None]]
    ) -> dict[str, None]:
        """Return the tables behind a node in order; `known` has those behind other nodes."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        node = self.artifacts.nodes.get(unique_id)
        waiting = list(reversed(node.parents)) if node else []
        while waiting:
            parent = waiting.pop()
            if parent in seen:
                continue
            seen.add(parent)
            if self.is_table(parent):
                found[parent] = None
            elif parent in known:
                found |= known[parent]
            elif parent in self.artifacts.nodes:
                waiting += reversed(self.artifacts.nodes[parent].parents)
        return found

    @cached_property
    def _behind_shared(self) -> dict[str, dict[str, None]]:
        """Return the tables behind each node that is none and has several readers."""
        parents = (set(node.parents) for node in self.artifacts.nodes.values())
        readers = Counter(chain.from_iterable(parents))
        shared: dict[str, dict[str, None]] = {}
        for unique_id in self._parents_first:
            if readers[unique_id] > 1 and not self.is_table(unique_id):
                shared[unique_id] = self._tables_behind(unique_id, shared)
        return shared

    @cached_property
    def _parents_first(self) -> list[str]:
        """Return all nodes, each after its parents as far as there is no cycle."""
        nodes = self.artifacts.nodes
        entered: set[str] = set()
        ordered: dict[str, None] = {}
        waiting = list(reversed(nodes))
        while waiting:
            unique_id = waiting[-1]
            if unique_id in entered:
                ordered[waiting.pop()] = None
                continue
            entered.add(unique_id)
            parents = reversed(nodes[unique_id].parents)
            waiting += [one for one in parents if one in nodes and one not in entered]
        return list(ordered)

    @cached_property
    def lineage(self) -> dict[str, TableLineage]:
        """Return the lineage of each built table by id, readers after what they read."""
        tables = {unique_id: self._lineage_of(unique_id) for unique_id in self._in_order()}
        for flow in self._declared:
            if flow.target_id is not None:
                flow.add_to(tables[flow.target_id])
        return tables

    @cached_property
    def declared_elsewhere(self) -> dict[DatasetName, TableLineage]:
        """Return the declared lineage of datasets that the project does not build."""
        found: dict[DatasetName, TableLineage] = {}
        for flow in self._declared:
            if flow.target_id is None:
                flow.add_to(found.setdefault(flow.target, TableLineage()))
        return found

    def columns_of(self, unique_id: str) -> list[tuple[str, str]]:
        """Return the columns of a table with their types, as far as they are known.

        The catalog knows all; else the SQL may; else the documentation has some of them."""
        if unique_id in self.artifacts.catalog:
            return self.artifacts.catalog[unique_id]
        documented = self.artifacts.nodes[unique_id].columns or {}
        types = {fold_case(one.name): one.data_type or "" for one in documented.values()}
        names = self._outputs.get(unique_id) or tuple(one.name for one in documented.values())
        return [(name, types.get(fold_case(name), "")) for name in names]

    def spell(self, unique_id: str, column: str) -> str | None:
        """Return a column as its table spells it; None if the table is not known to have it."""
        if unique_id not in self._spellings:
            spelled: dict[str, str] = {}
            for name, _ in self.columns_of(unique_id):
                spelled.setdefault(fold_case(name), name)
            self._spellings[unique_id] = spelled
        return self._spellings[unique_id].get(fold_case(column))

    def _in_order(self) -> Iterator[str]:
        for unique_id in self._parents_first:
            if self.artifacts.nodes[unique_id].resource_type in BUILT and self.is_table(unique_id):
                yield unique_id

    def _lineage_of(self, unique_id: str) -> TableLineage:
        node = self.artifacts.nodes[unique_id]
        behind = self.tables_behind(unique_id)
        lineage = TableLineage(inputs={self.dataset(parent) for parent in behind})
        among = self._by_ending(behind)
        dialect = dialect_of(self.artifacts.adapter)

        def columns(table: TableName) -> list[str] | None:
            return self._known_columns(table, among)

        if node.sql:
            references = references_in_sql(node.sql, dialect=dialect, columns=columns)
            if references.unknown and not references.tables:
                place = node.original_file_path or unique_id
                self._report.add_problem(place, references.unknown[0])
        else:
            references = references_in_model(node.template, dialect=dialect, columns=columns)
            # Only dbt knows what a macro or a loop adds.
            references = References() if references.unknown else references
        _SqlLineage(self, node, among, references).add_to(lineage)
        self._outputs[unique_id] = lineage.outputs
        # A cycle may have read them before.
        self._spellings.pop(unique_id, None)
        return lineage

    def find(self, table: TableName, among: SuffixIndex[str]) -> str | None:
        """Return the id of the table that SQL names: exactly, or else as the only one like it."""
        exact = self._by_name.get(tuple(part.casefold() for part in table))
        return exact if exact is not None else among.only(name_parts(".".join(table)))

    def _by_ending(self, tables: Iterable[str]) -> SuffixIndex[str]:
        """Return the ids of tables by the names of their datasets."""
        ids: SuffixIndex[str] = SuffixIndex()
        for unique_id in tables:
            ids.add(name_parts(self.dataset(unique_id)[1]), unique_id)
        return ids

    @cached_property
    def _by_name(self) -> dict[TableName, str]:
        nodes = self.artifacts.nodes
        return {
            tuple(part.casefold() for part in self.table_name(nodes[one])): one
            for one in nodes
            if self.is_table(one)
        }

    def _known_columns(self, table: TableName, among: SuffixIndex[str]) -> list[str] | None:
        unique_id = self.find(table, among)
        if unique_id is None:
            return None
        # Documented columns may be some of the columns only.
        if unique_id in self.artifacts.catalog:
            return [name for name, _ in self.artifacts.catalog[unique_id]]
        return list(self._outputs.get(unique_id, ())) or None

    @cached_property
    def _declared(self) -> list[ResolvedFlow]:
        return [
            flow
            for unique_id, node in self.artifacts.nodes.items()
            for flow in self._resolved_flows(unique_id, node)
        ]

    def _resolved_flows(self, unique_id: str, node: Node) -> list[ResolvedFlow]:
        """Return the flows that a node declares, between datasets."""
        if not self.is_table(unique_id):
            return []
        try:
            flows = list(flows_of(node))
        except DeclaredLineageError as error:
            self._report.add_problem(node.original_file_path or unique_id, str(error))
            return []
        own = _End(unique_id, self.dataset(unique_id))
        resolved = []
        for flow in flows:
            column = flow.column
            source = self._resolve(flow.source) if flow.source else own.with_field(column)
            target = self._resolve(flow.target) if flow.target else own.with_field(column)
            if (source.dataset, source.field) != (target.dataset, target.field):
                is_built = target.unique_id is not None and (
                    self.artifacts.nodes[target.unique_id].resource_type in BUILT
                )
                target_id = target.unique_id if is_built else None
                resolved.append(
                    ResolvedFlow(
                        source.dataset, source.field, target.dataset, target.field, target_id
                    )
                )
        return resolved

    def _resolve(self, place: Place) -> _End:
        """Return the dataset and column of a declared place.

        A name that the project does not have is a dataset of that name in its namespace."""
        if place.namespace:
            return _End(None, (place.namespace, place.text), place.field)
        whole = self._named(place.text)
        if whole is not None:
            return _End(whole, self.dataset(whole))
        table, _, column = place.text.rpartition(".")
        if not table:
            return _End(None, (self.namespace, place.text))
        unique_id = self._named(table)
        dataset = self.dataset(unique_id) if unique_id else (self.namespace, table)
        return _End(unique_id, dataset, column)

    def _named(self, text: str) -> str | None:
        """Return the id of the table that people call by a name; None if several have it."""
        if "." in text:
            return self._tables_by_ending.only(name_parts(text))
        found = self._by_common_name.get(text.casefold(), [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def _tables_by_ending(self) -> SuffixIndex[str]:
        return self._by_ending(filter(self.is_table, self.artifacts.nodes))

    @cached_property
    def _by_common_name(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = defaultdict(list)
        for unique_id, node in self.artifacts.nodes.items():
            if self.is_table(unique_id):
                called = {node.name, node.table}
                for name in {one.casefold() for one in called}:
                    names[name].append(unique_id)
        return names


@dataclass(frozen=True)
class _End:
    """One end of a declared flow; `unique_id` is None outside of the project."""

    unique_id: str | None
    dataset: DatasetName
    field: str = ""

    def with_field(self, name: str) -> _End:
        return _End(self.unique_id, self.dataset, name)


@dataclass(frozen=True)
class ResolvedFlow:
    """A declared flow between datasets or their columns; "" is the whole dataset.

    target_id: the built table that it flows into, or None."""

    source: DatasetName
    source_field: str
    target: DatasetName
    target_field: str
    target_id: str | None

    def add_to(self, lineage: TableLineage) -> None:
        """Add the flow to the lineage of its target."""
        if self.source != self.target:
            lineage.inputs.add(self.source)
        if self.source_field and self.target_field:
            lineage.direct[self.target_field].add((self.source, self.source_field))
        elif self.source_field:
            lineage.indirect.add((self.source, self.source_field))


class _SqlLineage:
    """The lineage of a model from the references of its compiled SQL."""

    def __init__(
        self, project: Project, node: Node, among: SuffixIndex[str], references: References
    ) -> None:
        self._project = project
        self._node = node
        self._among = among
        self._references = references
        self._words = _spellings(node)

    def add_to(self, lineage: TableLineage) -> None:
        """Add the columns, and the tables that the model names without `ref` or `source`."""
        own = self._project.dataset(self._node.unique_id)
        found = {self._dataset(table) for table in self._references.tables}
        lineage.inputs |= {name for name in found if name is not None and name != own}
        names = [self._words.get(name, name) for name in self._references.outputs]
        lineage.outputs = tuple(self._spell(self._node.unique_id, name) for name in names)
        for flow in self._references.flows:
            if flow.sure and ALL not in (flow.column, flow.source_column) and flow.column:
                column = self._spell(self._node.unique_id, flow.column)
                source = self._field(flow.source, flow.source_column)
                if source is not None:
                    lineage.direct[column].add(source)
        for read in self._references.read:
            source = self._field(read.table, read.column)
            if read.indirect and read.sure and read.column != ALL and source is not None:
                # An incremental model compares with its own rows.
                lineage.indirect |= {source} if source[0] != own else set()

    def _id(self, table: TableName) -> str | None:
        return self._project.find(table, self._among)

    def _dataset(self, table: TableName) -> DatasetName | None:
        unique_id = self._id(table)
        if unique_id is not None:
            return self._project.dataset(unique_id)
        # A template names tables as dbt calls them. In SQL a word alone may be no table.
        if len(table) < 2 or not self._node.sql:
            return None
        # A name without a database is in that of the model.
        parts = (self._node.database, *table) if len(table) == 2 else table
        return self._project.namespace, ".".join(part for part in parts if part)

    def _field(self, table: TableName, column: str) -> Field | None:
        dataset = self._dataset(table)
        return (dataset, self._spell(self._id(table), column)) if dataset else None

    def _spell(self, unique_id: str | None, column: str) -> str:
        """Return a column as its table spells it, or else as the SQL does."""
        spelled = self._project.spell(unique_id, column) if unique_id is not None else None
        return self._words.get(fold_case(column), column) if spelled is None else spelled


def _spellings(node: Node) -> Mapping[str, str]:
    """Return the words of a model's SQL as it spells them first, by folded word."""
    words: dict[str, str] = {}
    for word in _WORD.findall(node.sql or node.template):
        words.setdefault(fold_case(word), word)
    return words
