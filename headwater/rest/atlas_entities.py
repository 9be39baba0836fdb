"""Entities in the shape of Apache Atlas: created, updated and read under `/api/atlas/v2/entity`.

A request becomes events, which are on disk before the client gets its answer. An entity is read
back as its client wrote it; one that other events made is a `DataSet` or a `Process`. Its
`inputs` and `outputs` are those of the current lineage, without hidden nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from headwater.errors import UnavailableError
from headwater.importers.atlas import (
    ATLAS_FACET,
    ENTITIES_MAX,
    AtlasEntityError,
    Classification,
    Entity,
    MappedEntities,
    entity_urn,
    map_entities,
)
from headwater.lineage.nodes import read_all_facets, read_nodes
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView
from headwater.rest.atlas_nodes import (
    EntityNotFoundError,
    Header,
    HeaderParams,
    Text,
    header_of,
    urn_of_guid,
)
from headwater.rest.operations import ArgumentError, OperationRequest
from headwater.rest.registrations import PendingRegistrations
from headwater.schema import headwater_facets as native
from headwater.schema.urns import guid_of, parse_urn

ENTITY_BYTES_MAX = 4 * 1024 * 1024
_SIDES_MAX = 1_000


class NewEntity(msgspec.Struct, kw_only=True, rename="camel"):
    """An entity to create or update, with the entities that it refers to by guid."""

    entity: Entity
    referred_entities: dict[str, Entity] | None = None


class NewEntities(msgspec.Struct, kw_only=True, rename="camel"):
    """Entities to create or update, with those that they refer to by guid."""

    entities: Annotated[list[Entity], Meta(min_length=1, max_length=ENTITIES_MAX)]
    referred_entities: dict[str, Entity] | None = None


class MutatedEntities(msgspec.Struct, kw_only=True):
    """The stated entities, those that the graph did not have as CREATE."""

    CREATE: list[Header] = []
    UPDATE: list[Header] = []


class EntityMutation(msgspec.Struct, kw_only=True, rename="camel"):
    """The stated entities, and the guids that stand for those of the request."""

    mutated_entities: MutatedEntities
    guid_assignments: dict[str, str]


class StoredEntity(msgspec.Struct, kw_only=True, rename="camel"):
    """An entity with its attributes and classifications."""

    type_name: str
    guid: str
    status: str
    attributes: dict[str, Any]
    classifications: list[Classification]


class EntityWithReferred(msgspec.Struct, kw_only=True, rename="camel"):
    """An entity; the entities that it refers to are given by their guids and names."""

    entity: StoredEntity
    referred_entities: dict[str, StoredEntity]


class UniqueParams(msgspec.Struct, kw_only=True):
    """Parameters of an entity by type and qualified name."""

    type_name: Text = msgspec.field(name="typeName")
    qualified_name: Text = msgspec.field(name="attr:qualifiedName")


class AtlasEntities:
    """The operations on entities. One object serves all requests."""

    def __init__(self) -> None:
        self._pending = PendingRegistrations()

    def create(self, request: OperationRequest) -> EntityMutation:
        """Create or update one entity."""
        new: NewEntity = request.body
        return self._state(request, [new.entity], new.referred_entities, "entity")

    def create_all(self, request: OperationRequest) -> EntityMutation:
        """Create or update entities."""
        new: NewEntities = request.body
        return self._state(request, new.entities, new.referred_entities, "entities")

    def update(self, request: OperationRequest) -> EntityMutation:
        """Create or update one entity, by PUT."""
        return self.create(request)

    def update_all(self, request: OperationRequest) -> EntityMutation:
        """Create or update entities, by PUT."""
        return self.create_all(request)

    def get(self, request: OperationRequest) -> EntityWithReferred:
        """Return an entity by guid."""
        params: HeaderParams = request.params
        self._pending.wait(request.view)
        return _with_referred(request.view, urn_of_guid(request.view, params.guid))

    def get_by_name(self, request: OperationRequest) -> EntityWithReferred:
        """Return an entity by type and qualified name."""
        params: UniqueParams = request.params
        view = request.view
        self._pending.wait(view)
        for is_process in (False, True):
            urn = entity_urn(params.type_name, params.qualified_name, is_process=is_process)
            if urn in read_nodes(view, [urn]):
                found = _with_referred(view, urn)
                if params.type_name in (found.entity.type_name, "Referenceable", "Asset"):
                    return found
        raise EntityNotFoundError(
            f"Instance {params.type_name[:100]} with unique attribute"
            f" qualifiedName={params.qualified_name[:200]} does not exist"
        )

    def _state(
        self,
        request: OperationRequest,
        entities: Sequence[Entity],
        referred: Mapping[str, Entity] | None,
        field: str,
    ) -> EntityMutation:
        view, event_time = request.view, native.now()

        @cache
        def wait() -> None:
            self._pending.wait(view)

        def resolve(guid: str) -> str | None:
            wait()
            try:
                return urn_of_guid(view, guid)
            except EntityNotFoundError:
                return None

        try:
            mapped = map_entities(entities, referred or {}, resolve, event_time, field=field)
        except AtlasEntityError as error:
            raise ArgumentError(error.message, field=error.field) from error
        known = _known(view, mapped)
        request.submit(mapped.events)
        for _, urn in mapped.entities:
            self._pending.add(urn, event_time)
        return _mutation(mapped, known)


def _known(view: GraphView, mapped: MappedEntities) -> set[str]:
    """Return the urns that the graph has; none while Neo4j is unavailable."""
    try:
        return set(read_nodes(view, [urn for _, urn in mapped.entities]))
    except UnavailableError:
        return set()


def _mutation(mapped: MappedEntities, known: set[str]) -> EntityMutation:
    done, guids = MutatedEntities(CREATE=[], UPDATE=[]), {}
    stated: set[str] = set()
    for entity, urn in mapped.entities:
        guid = guid_of(urn)
        if entity.guid:
            guids[entity.guid] = guid
        if urn in stated:
            continue
        stated.add(urn)
        row = {"name": entity.attributes.get("name") or parse_urn(urn).parts[-1]}
        row |= {"namespace": parse_urn(urn).parts[0]}
        header = header_of(urn, row, _attributes(entity), entity.type_name)
        (done.UPDATE if urn in known else done.CREATE).append(header)
    return EntityMutation(mutated_entities=done, guid_assignments=guids)


def _attributes(entity: Entity) -> dict[str, Any]:
    names = ("name", "qualifiedName", "description", "owner")
    return {name: entity.attributes[name] for name in names if name in entity.attributes}


def _with_referred(view: GraphView, urn: str) -> EntityWithReferred:
    row = read_nodes(view, [urn])[urn]
    sent = _as_sent(view, urn)
    header = header_of(urn, row)
    attributes: dict[str, Any] = {
        **msgspec.to_builtins(header.attributes),
        "columns": row.get("columns") or [],
        **(sent.attributes if sent else {}),
    }
    if urn.startswith("job:"):
        del attributes["columns"]
        attributes |= _sides(view, urn)
    stored = StoredEntity(
        type_name=sent.type_name if sent else header.type_name,
        guid=header.guid,
        status=header.status,
        attributes=attributes,
        classifications=[
            Classification(type_name=name.partition("=")[0])
            for name in header.classification_names
            if ":" not in name.partition("=")[0]
        ],
    )
    return EntityWithReferred(entity=stored, referred_entities={})


def _sides(view: GraphView, urn: str) -> dict[str, list[Any]]:
    """Return the visible datasets that a job reads and writes now."""
    result = lineage(view, LineageRequest((urn,), direction="BOTH", depth=1, nodes_max=_SIDES_MAX))
    found: dict[str, list[str]] = {"inputs": [], "outputs": []}
    for edge in result.edges:
        if edge.target == urn:
            found["inputs"].append(edge.source)
        elif edge.source == urn:
            found["outputs"].append(edge.target)
    others = read_nodes(view, [*found["inputs"], *found["outputs"]])
    return {side: _object_ids(set(urns) & others.keys()) for side, urns in found.items()}


def _object_ids(urns: set[str]) -> list[Any]:
    """Return references to those of these nodes that are datasets."""
    datasets = sorted(urn for urn in urns if urn.startswith("dataset:"))
    return [
        {"guid": guid_of(urn), "typeName": "DataSet", "uniqueAttributes": {"qualifiedName": urn}}
        for urn in datasets
    ]


class _Sent(msgspec.Struct, kw_only=True, rename="camel"):
    """The facet that keeps an entity as its client sent it."""

    type_name: str
    attributes: dict[str, Any] = {}


def _as_sent(view: GraphView, urn: str) -> _Sent | None:
    """Return an entity as its client sent it, or None for a node of other events."""
    facet = read_all_facets(view, [urn]).get(urn, {}).get(ATLAS_FACET)
    try:
        return msgspec.convert(facet, type=_Sent) if facet else None
    except msgspec.ValidationError:
        return None
