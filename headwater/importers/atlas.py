"""Entities of Apache Atlas as events: DataSets with their columns, and Processes. Pure.

A qualified name is read as Atlas writes it: `db.table@cluster`, `topic@cluster`, an address such as
`s3://bucket/path`, or the urn of a node. The guid of an entity is that of its node, so a client can
name what others sent. Attributes, descriptions and classifications of a later request replace those
that it names; others stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from headwater.errors import QueryError
from headwater.importers.events import dataset, dataset_event, facets, job_event
from headwater.schema.headwater_facets import Event
from headwater.schema.naming import load_naming
from headwater.schema.urns import KINDS, dataset_urn, job_urn, parse_urn

ATLAS_FACET = "headwater_atlas"
ENTITIES_MAX = 500
COLUMNS_MAX = 5_000
NAME_CHARACTERS_MAX = 4_000
_ATTRIBUTES_MAX = 200
_VALUE_CHARACTERS_MAX = 4_000
# Types of Atlas -> the type of the dataset.
_TYPES = {
    "hive_table": "TABLE",
    "iceberg_table": "TABLE",
    "rdbms_table": "TABLE",
    "hbase_table": "TABLE",
    "spark_table": "TABLE",
    "kafka_topic": "TOPIC",
    "hdfs_path": "FILE",
    "fs_path": "FILE",
    "aws_s3_object": "FILE",
    "aws_s3_v2_object": "FILE",
    "ml_model": "MODEL",
    "spark_ml_model": "MODEL",
}
# Types that are parts of others. They are no nodes of their own.
_PARTS = ("_db", "_column", "_storagedesc", "_instance", "_schema", "_index", "_namespace")
_SYSTEMS = {"hive": "hive", "iceberg": "hive", "spark": "hive", "kafka": "kafka"}


class AtlasEntityError(QueryError):
    """An entity that cannot be read; `field` is its path in the request."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class ObjectId(msgspec.Struct, kw_only=True, rename="camel"):
    """A reference to an entity, by guid or by qualified name."""

    guid: str | None = None
    type_name: str | None = None
    unique_attributes: dict[str, Any] | None = None


class Classification(msgspec.Struct, kw_only=True, rename="camel"):
    """A classification of an entity."""

    type_name: str


class Entity(msgspec.Struct, kw_only=True, rename="camel"):
    """An entity as a client sends it. A negative guid names it within the request."""

    type_name: str
    attributes: dict[str, Any] = {}
    guid: str | None = None
    classifications: list[Classification] | None = None
    relationship_attributes: dict[str, Any] | None = None

    @property
    def is_process(self) -> bool:
        """Return True if it has inputs or outputs, or a type of processes."""
        names = {"inputs", "outputs"} & {*self.attributes, *(self.relationship_attributes or ())}
        return bool(names) or self.type_name.lower().endswith("process")

    @property
    def is_part(self) -> bool:
        """Return True if it is a part of another entity, such as a column."""
        return self.type_name.lower().endswith(_PARTS)

    def references(self, attribute: str, field: str) -> list[ObjectId]:
        """Return the entities that an attribute refers to. Raises AtlasEntityError."""
        found = self.attributes.get(attribute)
        if found is None:
            found = (self.relationship_attributes or {}).get(attribute)
        try:
            return msgspec.convert(found or [], type=list[ObjectId])
        except msgspec.ValidationError as error:
            path = f"{field}.attributes.{attribute}"
            raise AtlasEntityError("it must be a list of references", field=path) from error


class Place(NamedTuple):
    """The namespace and the name of a node."""

    namespace: str
    name: str


class MappedEntity(NamedTuple):
    """An entity of a request and the urn of its node."""

    entity: Entity
    urn: str


class MappedEntities(NamedTuple):
    """The entities of a request, and the events that state them."""

    entities: list[MappedEntity]
    events: list[Event]


# Returns the urn of a visible dataset or job by its guid, or None.
Resolve = Callable[[str], str | None]


def entity_urn(type_name: str, qualified_name: str, *, is_process: bool) -> str:
    """Return the urn of the node with a qualified name of Atlas."""
    system = "atlas" if is_process else _system(type_name)
    place = _place(system, qualified_name)
    if is_process:
        return job_urn(*place)
    normal = load_naming().normalise(*place)
    return dataset_urn(normal.namespace, normal.name)


def _system(type_name: str) -> str:
    """Return the scheme of the namespace of a type of DataSets."""
    return _SYSTEMS.get(type_name.lower().partition("_")[0], "atlas")


def _place(system: str, qualified_name: str) -> Place:
    if qualified_name.partition(":")[0] in KINDS:
        try:
            kind, parts = parse_urn(qualified_name)
        except QueryError:
            parts = ()
        if len(parts) == 2 and kind in ("dataset", "job"):
            return Place(*parts)
    base, _, cluster = qualified_name.rpartition("@")
    if not base:
        base, cluster = qualified_name, ""
    scheme, separator, rest = base.partition("://")
    if separator and scheme.isalnum():
        authority, slash, path = rest.partition("/")
        return Place(f"{scheme}://{authority}", f"{slash}{path}")
    if not cluster:
        return Place("atlas", base)
    return Place(f"{system}://{cluster}", base)


def map_entities(
    entities: Sequence[Entity],
    referred: Mapping[str, Entity],
    resolve: Resolve,
    event_time: str,
    *,
    field: str = "entities",
) -> MappedEntities:
    """Return the events of the entities of a request, and the nodes that they state.

    Args:
        entities: The entities to create or update.
        referred: Further entities by guid, which others name: the columns of a table.
        resolve: Finds the node of a guid that the request does not define.
        event_time: The time of the events, in ISO 8601.
        field: The name of the list in the request, for errors.

    Raises:
        AtlasEntityError: An entity has no qualified name, or names one that does not exist.
    """
    return _Mapping(entities, referred, resolve, field).map(event_time)


class _Mapping:
    """The entities of one request."""

    def __init__(
        self,
        entities: Sequence[Entity],
        referred: Mapping[str, Entity],
        resolve: Resolve,
        field: str,
    ) -> None:
        self._entities, self._resolve, self._field = entities, resolve, field
        self._by_guid = dict(referred)
        self._by_guid.update((entity.guid, entity) for entity in entities if entity.guid)

    def map(self, event_time: str) -> MappedEntities:
        columns = self._columns_by_table()
        mapped, events = [], []
        for number, entity in enumerate(self._entities):
            field = f"{self._field}[{number}]"
            if entity.is_part:
                continue
            urn = _urn_of(entity, field)
            mapped.append(MappedEntity(entity, urn))
            if entity.is_process:
                events.append(self._job_event(entity, urn, field, event_time))
            else:
                events.append(self._dataset_event(entity, urn, columns.get(urn), event_time))
        return MappedEntities(mapped, events)

    def _columns_by_table(self) -> dict[str, list[Entity]]:
        """Return the columns in the request by the urn of their table."""
        columns: dict[str, list[Entity]] = {}
        for number, entity in enumerate(self._entities):
            field = f"{self._field}[{number}]"
            if entity.is_part:
                table = self._table_of(entity, field)
                columns.setdefault(table, []).append(entity)
            elif not entity.is_process:
                found = [
                    self._by_guid[reference.guid]
                    for reference in entity.references("columns", field)
                    if reference.guid in self._by_guid
                ]
                if found:
                    columns.setdefault(_urn_of(entity, field), []).extend(found)
        return columns

    def _table_of(self, column: Entity, field: str) -> str:
        """Return the urn of the table of a column. The request must have the table."""
        reference = column.attributes.get("table") or (column.relationship_attributes or {}).get(
            "table"
        )
        guid = reference.get("guid") if isinstance(reference, Mapping) else None
        table = self._by_guid.get(guid) if isinstance(guid, str) else None
        if table is None or not column.type_name.lower().endswith("_column"):
            raise AtlasEntityError(
                f"the type {column.type_name[:100]} is neither a DataSet nor a Process, and no"
                " column of a table in this request",
                field=field,
            )
        return _urn_of(table, field)

    def _job_event(self, entity: Entity, urn: str, field: str, event_time: str) -> Event:
        place = _parts(urn, field)
        own = facets(
            **_described(entity),
            jobType={
                "processingType": "BATCH",
                "integration": "ATLAS",
                "jobType": entity.type_name[:100].upper(),
            },
            **{ATLAS_FACET: _as_sent(entity)},
        )
        job: Event = {"namespace": place.namespace, "name": place.name, "facets": own}
        inputs = self._datasets(entity, "inputs", field)
        return job_event(event_time, job, inputs, self._datasets(entity, "outputs", field))

    def _datasets(self, entity: Entity, side: str, field: str) -> list[Event]:
        """Return the datasets that a process reads or writes."""
        names = [self._dataset_of(one, field) for one in entity.references(side, field)]
        return [dataset(name) for name in names]

    def _dataset_event(
        self, entity: Entity, urn: str, columns: Iterable[Entity] | None, event_time: str
    ) -> Event:
        columns = list(columns or ())
        kind = _TYPES.get(entity.type_name.lower(), entity.type_name[:100].upper())
        own = facets(
            **_described(entity),
            datasetType={"datasetType": kind, "subType": entity.type_name[:100]},
            schema={"fields": _fields(columns)} if columns else None,
            tags=_tags(entity, columns),
            **{ATLAS_FACET: _as_sent(entity)},
        )
        return dataset_event(event_time, dataset(_parts(urn, "guid"), own))

    def _dataset_of(self, reference: ObjectId, field: str) -> tuple[str, str]:
        """Return the dataset that a process reads or writes."""
        urn = self._urn_of_reference(reference, field)
        if urn is None or not urn.startswith("dataset:"):
            name = str(reference.guid or reference.unique_attributes)[:200]
            raise AtlasEntityError(f"the referenced DataSet {name} is not found", field=field)
        return _parts(urn, field)

    def _urn_of_reference(self, reference: ObjectId, field: str) -> str | None:
        if reference.guid in self._by_guid:
            return _urn_of(self._by_guid[reference.guid], field)
        name = (reference.unique_attributes or {}).get("qualifiedName")
        if isinstance(name, str) and name:
            return entity_urn(reference.type_name or "DataSet", name, is_process=False)
        return self._resolve(reference.guid) if reference.guid else None


def _urn_of(entity: Entity, field: str) -> str:
    name = entity.attributes.get("qualifiedName")
    if not isinstance(name, str) or not name.strip() or len(name) > NAME_CHARACTERS_MAX:
        raise AtlasEntityError(
            f"it must be a text of at most {NAME_CHARACTERS_MAX} characters",
            field=f"{field}.attributes.qualifiedName",
        )
    urn = entity_urn(entity.type_name, name, is_process=entity.is_process)
    _parts(urn, field)
    return urn


def _parts(urn: str, field: str) -> Place:
    try:
        parts = parse_urn(urn).parts
    except QueryError:
        parts = ()
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise AtlasEntityError(
            "the qualified name is too long, or has an empty part",
            field=f"{field}.attributes.qualifiedName",
        )
    return Place(*parts)


def _described(entity: Entity) -> dict[str, Any]:
    """Return the facets of description and owner that the entity has."""
    description = entity.attributes.get("description") or entity.attributes.get("comment")
    owner = entity.attributes.get("owner")
    described: dict[str, Any] = {}
    if isinstance(description, str):
        described["documentation"] = {"description": description}
    if isinstance(owner, str) and owner.strip():
        described["ownership"] = {"owners": [{"name": owner, "type": "OWNER"}]}
    return described


def _fields(columns: Iterable[Entity]) -> list[dict[str, str]]:
    """Return the fields of a schema, in the order of their positions if all have one."""
    named = [column for column in columns if isinstance(column.attributes.get("name"), str)]
    positions = [column.attributes.get("position") for column in named]
    if all(type(position) is int for position in positions):
        named.sort(key=lambda column: int(column.attributes["position"]))
    fields = []
    for column in named[:COLUMNS_MAX]:
        kind = column.attributes.get("type") or column.attributes.get("data_type")
        fields.append(
            {"name": column.attributes["name"]} | ({"type": kind} if isinstance(kind, str) else {})
        )
    return fields


def _tags(entity: Entity, columns: Iterable[Entity]) -> dict[str, Any] | None:
    """Return the classifications of a dataset and its columns as tags."""
    tags = [_tag(one) for one in entity.classifications or ()]
    for column in columns:
        name = column.attributes.get("name")
        if isinstance(name, str):
            tags += [{**_tag(one), "field": name} for one in column.classifications or ()]
    has_any = entity.classifications is not None or tags
    return {"tags": tags} if has_any else None


def _tag(classification: Classification) -> dict[str, str]:
    return {"key": classification.type_name, "value": "true", "source": "ATLAS"}


def _as_sent(entity: Entity) -> dict[str, Any]:
    """Return the type and the plain attributes, so that a client reads back what it wrote."""
    plain = {
        key: value
        for key, value in list(entity.attributes.items())[:_ATTRIBUTES_MAX]
        if isinstance(value, bool | int | float)
        or (isinstance(value, str) and len(value) <= _VALUE_CHARACTERS_MAX)
    }
    return {"typeName": entity.type_name, "attributes": plain}
