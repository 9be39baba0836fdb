"""Registered assets: `POST /v1/lineage/trace`, `GET /v1/lineage/{id}`, `POST /v1/lineage/impact`.

An asset is identified by its name: a second registration of a name is the same asset with the same
id. Upstream assets are given by name too, and may be registered later; until then their type is
`unknown`. `headwater.schema.headwater_facets.asset_events` describes an asset in the graph. If
`source_ref` is the path of code in the configured folder, the code is read at the registration, and
an impact is judged by it. Errors are `{"detail": ...}` and name the field.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwater.code_analysis.model import UnreadableError
from headwater.code_analysis.repository_files import RepositoryCode, is_code_path, read_code
from headwater.errors import EventError, HeadwaterError, NotFoundError, QueryError, UnavailableError
from headwater.impact.assess import CHANGES_MAX, assess
from headwater.impact.changes import parse_changes
from headwater.impact.report import Affected, Evidence
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.assets import asset_id, find_asset
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.traversal.request import DEPTH_DEFAULT, DEPTH_MAX, LineageRequest
from headwater.lineage.view import GraphView
from headwater.rest.asset_tree import Asset, TreeBuilder
from headwater.rest.operations import Api, ArgumentError, Operation, OperationRequest
from headwater.rest.registrations import PendingRegistrations, Upstream, resolve_registration
from headwater.schema import headwater_facets as native
from headwater.schema.urns import job_urn, parse_urn
from headwater.web import BodyError

NODES_MAX = 1_000
UPSTREAM_MAX = 1_000
FILES_MAX = 2_000
FILES_BYTES_MAX = 8 * 2**20
_TYPE = r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"
_NOT_A_TYPE = re.compile(r"unknown|hidden", re.IGNORECASE)
# At least one visible character and no control characters.
_NAME = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
Named = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=_NAME)]


class NewAsset(msgspec.Struct, kw_only=True):
    """An asset to register. Its upstream assets replace those of an earlier registration."""

    asset_type: Annotated[
        str, Meta(pattern=_TYPE, description="table, dbt_model, dag, spark_job, dashboard, ...")
    ]
    name: Named
    source_ref: Annotated[
        str, Meta(max_length=2_000, description="A file path, a table name or a DAG id.")
    ] = ""
    upstream_assets: Annotated[
        list[Named], Meta(max_length=UPSTREAM_MAX, description="The names of its upstream assets.")
    ] = []
    namespace: Named = native.DEFAULT_NAMESPACE


class RegisteredCode(msgspec.Struct, kw_only=True):
    """The code that `source_ref` points to, by which an impact is judged.

    `problem` says why it cannot be read; then the effect of a change on the asset is unknown.
    """

    language: str | None = None
    problem: str | None = None


class RegisteredAsset(msgspec.Struct, kw_only=True):
    """A registered asset: safe on disk, and in the graph within about a second.

    `code` is null if `source_ref` is no path of a code file.
    """

    id: str
    name: str
    namespace: str
    asset_type: str
    source_ref: str
    upstream_assets: list[Upstream]
    code: RegisteredCode | None


Direction = Literal["upstream", "downstream", "both"]


class LineageParams(msgspec.Struct, kw_only=True):
    """Parameters of a lineage; `id` is an asset's id, urn or unique name."""

    id: str
    direction: Direction = "downstream"
    depth: Annotated[int, Meta(ge=1, le=DEPTH_MAX)] = DEPTH_DEFAULT


class AssetLineage(msgspec.Struct, kw_only=True):
    """The lineage of an asset as a tree.

    `truncated` names the limit that cut it short: depth, nodes, edges or time.
    """

    id: str
    direction: Direction
    depth: int
    graph: Asset
    node_count: int
    truncated: str | None


class ImpactRequest(msgspec.Struct, kw_only=True):
    """Proposed changes to an asset. `files` is code by path, checked in addition to the graph's."""

    asset_id: Annotated[str, Meta(min_length=1, max_length=4_000)]
    proposed_changes: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=CHANGES_MAX)]
    files: Annotated[dict[str, str], Meta(max_length=FILES_MAX)] = {}
    dialect: Annotated[str, Meta(max_length=40)] = ""
    include_stale: Annotated[bool, Meta(description="Include former readers.")] = False


class AffectedAsset(msgspec.Struct, kw_only=True):
    """An asset that a change reaches.

    Its severity is `breaking` if `evidence` shows a reference to a changed element. It is `unknown`
    if the asset reads the changed dataset and its code is not known: treat it as breaking. It is
    `warning` if nothing is shown to break. `id` is null for a file. `urn` and `kind` are those of
    the node in the graph, `outputs` the datasets that it writes.
    """

    id: str | None
    urn: str | None
    kind: str
    name: str
    namespace: str | None
    asset_type: str
    severity: Literal["breaking", "unknown", "warning"]
    affected_references: list[str]
    evidence: list[Evidence]
    distance: int
    owners: list[str]
    certified: bool
    outputs: list[str]


class Impact(msgspec.Struct, kw_only=True):
    """The assets that changes would affect, nearest first.

    `hidden_affected`: the changes also affect assets that the caller may not see.
    """

    risk_level: Literal["low", "medium", "high"]
    affected_count: int
    breaking_count: int
    unknown_count: int
    warning_count: int
    certified_count: int
    affected_assets: list[AffectedAsset]
    owners: list[str]
    hidden_affected: bool
    truncated: str | None
    notes: list[str]


class Detail(msgspec.Struct):
    """The body of an error response."""

    detail: str


class Assets:
    """The operations on registered assets. One object serves all requests.

    `repository_root` is the folder of the code that registrations may point to.
    """

    def __init__(self, repository_root: Path | None = None) -> None:
        self._pending = PendingRegistrations()
        self._root = repository_root

    def register(self, request: OperationRequest) -> RegisteredAsset:
        """Register an asset; return once its events are safe on disk."""
        new: NewAsset = request.body
        if _NOT_A_TYPE.fullmatch(new.asset_type):
            raise ArgumentError(
                f"{new.asset_type!r} is reserved for assets that are not registered",
                field="asset_type",
            )
        code, problem = self._read_code(new.source_ref)
        asset = resolve_registration(
            request.view,
            name=new.name,
            namespace=new.namespace,
            asset_type=new.asset_type.lower(),
            source_ref=new.source_ref,
            upstream=new.upstream_assets,
            code=code,
        )
        event_time = native.now()
        request.submit(asset.events(event_time))
        self._pending.add(asset.urn, event_time)
        return RegisteredAsset(
            id=asset_id(asset.urn),
            name=new.name,
            namespace=new.namespace,
            asset_type=asset.asset_type,
            source_ref=asset.source_ref,
            upstream_assets=asset.shown_upstream(),
            code=_registered_code(code, problem),
        )

    def _read_code(self, source_ref: str) -> tuple[RepositoryCode | None, str]:
        """Return the code that a registration points to, or None and the reason without one.

        The reason is "" if it points to no code file.
        """
        if not is_code_path(source_ref):
            return None, ""
        if self._root is None:
            return None, "no folder of code is configured: HEADWATER_REPOSITORY_ROOT"
        try:
            return read_code(self._root, source_ref), ""
        except UnreadableError as error:
            return None, str(error)

    def lineage(self, request: OperationRequest) -> AssetLineage:
        """Return the lineage of an asset as a tree."""
        params: LineageParams = request.params
        urn = self._find(request.view, params.id)
        # `fresh`: a client that has just registered an asset finds it with its edges.
        result = lineage(
            request.view,
            LineageRequest(
                (urn,),
                direction=params.direction.upper(),
                depth=params.depth,
                nodes_max=NODES_MAX,
                fresh=True,
            ),
        )
        visible = [node.urn for node in result.nodes if not node.urn.startswith(HIDDEN)]
        trees = TreeBuilder(result, read_nodes(request.view, visible))
        graph = trees.build(urn, upstream=params.direction == "upstream")
        if params.direction == "both":
            graph.upstream = trees.build(urn, upstream=True).upstream
        return AssetLineage(
            id=asset_id(urn),
            direction=params.direction,
            depth=params.depth,
            graph=graph,
            node_count=trees.count,
            truncated=result.reason or None,
        )

    def impact(self, request: OperationRequest) -> Impact:
        """Return the assets that proposed changes would affect."""
        params: ImpactRequest = request.body
        urn = self._find(request.view, params.asset_id)
        try:
            changes = parse_changes([_with_urn(change, urn) for change in params.proposed_changes])
        except QueryError as error:
            raise ArgumentError(f"proposed_{error.message}", hint=error.hint) from error
        report = assess(
            request.view,
            changes,
            files=params.files,
            dialect=params.dialect,
            include_stale=params.include_stale,
        )
        return Impact(
            risk_level=report.risk_level,
            affected_count=report.affected_count,
            breaking_count=report.breaking_count,
            unknown_count=report.unknown_count,
            warning_count=report.warning_count,
            certified_count=report.certified_count,
            affected_assets=[_affected(asset) for asset in report.affected],
            owners=report.owners,
            hidden_affected=report.hidden_affected,
            truncated=report.truncated or None,
            notes=report.notes,
        )

    def _find(self, view: GraphView, reference: str) -> str:
        """Return the urn of an asset; wait for registrations that the graph does not have yet."""
        self._pending.wait(view)
        try:
            return find_asset(view, reference)
        except NotFoundError as error:
            if self._pending.is_late(view, reference):
                raise UnavailableError(
                    "the asset is registered but not in the graph yet"
                ) from error
            raise


def _registered_code(code: RepositoryCode | None, problem: str) -> RegisteredCode | None:
    if code is not None:
        return RegisteredCode(language=code.language)
    return RegisteredCode(problem=problem) if problem else None


def _with_urn(change: dict[str, Any], urn: str) -> dict[str, Any]:
    """Return a change with its subject: the asset, or the asset's job for a `job_delete`."""
    parts = parse_urn(urn).parts
    is_job = change.get("type") == "job_delete" and parts
    return {"urn": job_urn(*parts) if is_job else urn, **change}


def _affected(asset: Affected) -> AffectedAsset:
    urn = asset.urn
    if urn:
        twin = f"dataset:{urn.partition(':')[2]}"
        urn = twin if twin in asset.outputs else urn
    return AffectedAsset(
        id=asset_id(urn) if urn else None,
        urn=asset.urn,
        kind=asset.kind,
        name=asset.name,
        namespace=asset.namespace,
        asset_type=asset.asset_type,
        severity=asset.severity,
        affected_references=list(asset.references),
        evidence=list(asset.evidence),
        distance=asset.distance,
        owners=list(asset.owners),
        certified=asset.certified,
        outputs=list(asset.outputs),
    )


def _error_detail(error: HeadwaterError, status: int) -> Detail:
    field = error.field if isinstance(error, ArgumentError | EventError | BodyError) else ""
    text = f"{field}: {error.message}" if field else error.message
    return Detail(f"{text}. {error.hint}" if error.hint and status < 500 else text)


_NO_ASSET = {404: "No asset has this id, urn or name.", 409: "Several assets have this name."}


def assets_api(repository_root: Path | None = None) -> Api:
    """Return the routes of registered assets."""
    assets = Assets(repository_root)
    operations = (
        Operation(
            "POST",
            "/lineage/trace",
            "Register an asset and its upstream assets",
            assets.register,
            RegisteredAsset,
            body=NewAsset,
            status=201,
            errors={422: "The definition is not valid; `detail` names the field."},
        ),
        Operation(
            "GET",
            "/lineage/{id}",
            "The lineage of an asset as a tree",
            assets.lineage,
            AssetLineage,
            params=LineageParams,
            errors=_NO_ASSET,
        ),
        Operation(
            "POST",
            "/lineage/impact",
            "The assets that changes to an asset would affect",
            assets.impact,
            Impact,
            body=ImpactRequest,
            body_bytes_max=FILES_BYTES_MAX,
            malformed_status=400,
            errors=_NO_ASSET,
            reads_code=True,
        ),
    )
    return Api("Assets", ("/v1", ""), operations, Detail, _error_detail, malformed_status=422)
