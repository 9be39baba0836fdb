"""Registered assets: `POST /v1/lineage/trace`, `GET /v1/lineage/{id}`, `POST /v1/lineage/impact`.

An asset is known by its name, and whatever is registered by that name again is the same asset with the same id.
Upstream assets are named too, and may be registered later: until then they are of type `unknown`. How an asset stands
in the graph is told at `headwater.schema.native.asset_events`. Errors are `{"detail": ...}`, and name the field.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.cypher.assets import asset_id, find_asset
from headwater.cypher.lineage import DEPTH_DEFAULT, DEPTH_MAX, lineage
from headwater.cypher.nodes import read_nodes
from headwater.cypher.stubs import HIDDEN
from headwater.errors import EventError, HeadwaterError
from headwater.rest.operations import Api, ArgumentError, Asked, Operation
from headwater.rest.registrations import Upstream, Waiting, understand
from headwater.rest.tree import Asset, Grower
from headwater.schema import native
from headwater.web import BodyError

NODES_MAX = 1_000
UPSTREAM_MAX = 1_000
_TYPE = r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"
_NOT_A_TYPE = re.compile(r"unknown|hidden", re.IGNORECASE)
# Something to read in it, and nothing that cannot be shown.
_NAME = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
Named = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=_NAME)]


class NewAsset(msgspec.Struct, kw_only=True):
    """An asset to register. What is upstream replaces what was said of it before."""

    asset_type: Annotated[str, Meta(pattern=_TYPE, description="table, dbt_model, dag, spark_job, dashboard, ...")]
    name: Named
    source_ref: Annotated[str, Meta(max_length=2_000, description="A file path, a table name or a DAG id.")] = ""
    upstream_assets: Annotated[
        list[Named], Meta(max_length=UPSTREAM_MAX, description="The names of what it is made from.")
    ] = []
    namespace: Named = native.DEFAULT_NAMESPACE


class RegisteredAsset(msgspec.Struct, kw_only=True):
    """An asset that is registered: on disk, and in the graph within about a second."""

    id: str
    name: str
    namespace: str
    asset_type: str
    source_ref: str
    upstream_assets: list[Upstream]


Direction = Literal["upstream", "downstream", "both"]


class WhichLineage(msgspec.Struct, kw_only=True):
    """`id` is an asset's id, its urn, or its name where only one asset has it."""

    id: str
    direction: Direction = "downstream"
    depth: Annotated[int, Meta(ge=1, le=DEPTH_MAX)] = DEPTH_DEFAULT


class AssetLineage(msgspec.Struct, kw_only=True):
    """The lineage of an asset as a tree. `truncated` names the bound that cut it short: depth, nodes, edges, time."""

    id: str
    direction: Direction
    depth: int
    graph: Asset
    node_count: int
    truncated: str | None


class Detail(msgspec.Struct):
    """What is wrong."""

    detail: str


class Assets:
    """The operations. One object serves every request."""

    def __init__(self) -> None:
        self._waiting = Waiting()

    def register(self, asked: Asked) -> RegisteredAsset:
        new: NewAsset = asked.body
        if _NOT_A_TYPE.fullmatch(new.asset_type):
            raise ArgumentError(f"{new.asset_type!r} is the type of what nobody registered", field="asset_type")
        asset = understand(
            asked.database,
            name=new.name,
            namespace=new.namespace,
            asset_type=new.asset_type.lower(),
            source_ref=new.source_ref,
            upstream=new.upstream_assets,
        )
        event_time = native.now()
        asked.submit(asset.events(event_time))
        self._waiting.add(asset.urn, event_time)
        return RegisteredAsset(
            id=asset_id(asset.urn),
            name=new.name,
            namespace=new.namespace,
            asset_type=asset.asset_type,
            source_ref=asset.source_ref,
            upstream_assets=asset.shown_upstream(),
        )

    def lineage(self, asked: Asked) -> AssetLineage:
        which: WhichLineage = asked.arguments
        self._waiting.settle(asked.database)
        urn = find_asset(asked.database, which.id)
        found = lineage(asked.database, urn, direction=which.direction.upper(), depth=which.depth, nodes_max=NODES_MAX)
        seen = [node.urn for node in found.nodes if not node.urn.startswith(HIDDEN)]
        grower = Grower(found, read_nodes(asked.database, seen))
        graph = grower.grow(urn, upstream=which.direction == "upstream")
        if which.direction == "both":
            graph.upstream = grower.grow(urn, upstream=True).upstream
        return AssetLineage(
            id=asset_id(urn),
            direction=which.direction,
            depth=which.depth,
            graph=graph,
            node_count=grower.count,
            truncated=found.reason or None,
        )


def _refused(error: HeadwaterError, status: int) -> Detail:
    field = error.field if isinstance(error, ArgumentError | EventError | BodyError) else ""
    said = f"{field}: {error.message}" if field else error.message
    return Detail(f"{said}. {error.mend}" if error.mend and status < 500 else said)


def assets_api() -> Api:
    """The routes of registered assets."""
    assets = Assets()
    operations = (
        Operation(
            "POST",
            "/lineage/trace",
            "Register an asset and what it is made from",
            assets.register,
            RegisteredAsset,
            body=NewAsset,
            status=201,
            refusals={422: "The definition is not valid; `detail` names the field."},
        ),
        Operation(
            "GET",
            "/lineage/{id}",
            "What lies upstream or downstream of an asset, as a tree",
            assets.lineage,
            AssetLineage,
            arguments=WhichLineage,
            refusals={404: "There is no such asset.", 409: "Several assets have this name.", 422: "A bad parameter."},
        ),
    )
    return Api("Assets", ("/v1", ""), operations, Detail, _refused, malformed=422)
