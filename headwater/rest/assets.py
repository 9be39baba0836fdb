"""Registered assets: `POST /v1/lineage/trace`, `GET /v1/lineage/{id}`, `POST /v1/lineage/impact`.

An asset is known by its name, and whatever is registered by that name again is the same asset with the same id.
Upstream assets are named too, and may be registered later: until then they are of type `unknown`. How an asset stands
in the graph is told at `headwater.schema.headwater_facets.asset_events`. Errors are `{"detail": ...}`, and name the field.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwater.cypher.driver.database import Database
from headwater.errors import EventError, HeadwaterError, NotFoundError, QueryError, UnavailableError
from headwater.impact.assess import CHANGES_MAX, assess
from headwater.impact.changes import parse_changes
from headwater.impact.report import Affected, Evidence
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.assets import asset_id, find_asset
from headwater.lineage.questions.lineage import DEPTH_DEFAULT, DEPTH_MAX, lineage
from headwater.rest.asset_tree import Asset, Grower
from headwater.rest.operations import Api, ArgumentError, Asked, Operation
from headwater.rest.registrations import Upstream, Waiting, understand
from headwater.schema import headwater_facets as native
from headwater.schema.urns import job_urn, parse_urn
from headwater.web import BodyError

NODES_MAX = 1_000
UPSTREAM_MAX = 1_000
FILES_MAX = 2_000
FILES_BYTES_MAX = 8 * 2**20
_TYPE = r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"
_NOT_A_TYPE = re.compile(r"unknown|hidden", re.IGNORECASE)
# Something to read in it, and nothing that cannot be shown.
_NAME = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
Named = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=_NAME)]


class NewAsset(msgspec.Struct, kw_only=True):
    """An asset to register. What is upstream replaces what was said of it before."""

    asset_type: Annotated[
        str, Meta(pattern=_TYPE, description="table, dbt_model, dag, spark_job, dashboard, ...")
    ]
    name: Named
    source_ref: Annotated[
        str, Meta(max_length=2_000, description="A file path, a table name or a DAG id.")
    ] = ""
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


class WhichImpact(msgspec.Struct, kw_only=True):
    """Changes that somebody means to make to an asset. `files` is code by path that counts beside what is known."""

    asset_id: Annotated[str, Meta(min_length=1, max_length=4_000)]
    proposed_changes: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=CHANGES_MAX)]
    files: Annotated[dict[str, str], Meta(max_length=FILES_MAX)] = {}
    dialect: Annotated[str, Meta(max_length=40)] = ""


class AffectedAsset(msgspec.Struct, kw_only=True):
    """An asset that a change reaches. It is `breaking` where a reference to what changes is shown by `evidence`, else a
    `warning`: it reads what changes, and nothing shows or rules out that it refers to that. `id` is null for a file."""

    id: str | None
    name: str
    namespace: str | None
    asset_type: str
    severity: Literal["breaking", "warning"]
    affected_references: list[str]
    evidence: list[Evidence]
    distance: int
    owners: list[str]
    certified: bool


class Impact(msgspec.Struct, kw_only=True):
    """Who some changes would affect, nearest first. `hidden_affected`: something that may not be seen is, too."""

    risk_level: Literal["low", "medium", "high"]
    affected_count: int
    breaking_count: int
    warning_count: int
    certified_count: int
    affected_assets: list[AffectedAsset]
    owners: list[str]
    hidden_affected: bool
    truncated: str | None
    notes: list[str]


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
            raise ArgumentError(
                f"{new.asset_type!r} is the type of what nobody registered", field="asset_type"
            )
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
        urn = self._find(asked.database, which.id)
        # Whoever has just registered an asset finds it, and what it is joined to.
        found = lineage(
            asked.database,
            urn,
            direction=which.direction.upper(),
            depth=which.depth,
            nodes_max=NODES_MAX,
            fresh=True,
        )
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

    def impact(self, asked: Asked) -> Impact:
        which: WhichImpact = asked.body
        urn = self._find(asked.database, which.asset_id)
        try:
            changes = parse_changes([_about(change, urn) for change in which.proposed_changes])
        except QueryError as error:
            raise ArgumentError(f"proposed_{error.message}", hint=error.hint) from error
        report = assess(asked.database, changes, files=which.files, dialect=which.dialect)
        return Impact(
            risk_level=report.risk_level,
            affected_count=report.affected_count,
            breaking_count=report.breaking_count,
            warning_count=report.warning_count,
            certified_count=report.certified_count,
            affected_assets=[_affected(one) for one in report.affected],
            owners=report.owners,
            hidden_affected=report.hidden_affected,
            truncated=report.truncated or None,
            notes=report.notes,
        )

    def _find(self, database: Database, reference: str) -> str:
        """The urn of an asset, also of one that was registered a moment ago."""
        self._waiting.settle(database)
        try:
            return find_asset(database, reference)
        except NotFoundError as error:
            if self._waiting.is_late(database, reference):
                raise UnavailableError(
                    "the asset is registered, and not in the graph yet"
                ) from error
            raise


def _about(change: dict[str, Any], urn: str) -> dict[str, Any]:
    """A change with what it is about: the asset, as the job that it is where a job is deleted."""
    parts = parse_urn(urn).parts
    is_job = change.get("type") == "job_delete" and parts
    return {"urn": job_urn(*parts) if is_job else urn, **change}


def _affected(one: Affected) -> AffectedAsset:
    twin = f"dataset:{one.urn.partition(':')[2]}" if one.urn else ""
    return AffectedAsset(
        id=asset_id(twin if twin in one.outputs else one.urn) if one.urn else None,
        name=one.name,
        namespace=one.namespace,
        asset_type=one.asset_type,
        severity=one.severity,
        affected_references=list(one.references),
        evidence=list(one.evidence),
        distance=one.distance,
        owners=list(one.owners),
        certified=one.certified,
    )


def _refused(error: HeadwaterError, status: int) -> Detail:
    field = error.field if isinstance(error, ArgumentError | EventError | BodyError) else ""
    said = f"{field}: {error.message}" if field else error.message
    return Detail(f"{said}. {error.hint}" if error.hint and status < 500 else said)


_NO_ASSET = {404: "There is no such asset.", 409: "Several assets have this name."}


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
            refusals=_NO_ASSET,
        ),
        Operation(
            "POST",
            "/lineage/impact",
            "Who some changes to an asset would affect",
            assets.impact,
            Impact,
            body=WhichImpact,
            body_bytes_max=FILES_BYTES_MAX,
            malformed=400,
            refusals=_NO_ASSET,
        ),
    )
    return Api("Assets", ("/v1", ""), operations, Detail, _refused, malformed=422)
