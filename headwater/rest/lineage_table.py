"""Large lineages: `GET /api/v1/lineage-table`, as columns in JSON, or as Arrow on request.

The Arrow form is two streams, one after the other: the nodes, then the edges. The other fields of
the answer are JSON under `headwater` in the metadata of each schema.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.errors import EventError, HeadwaterError
from headwater.lineage.questions.lineage_table import LineageTable, lineage_table
from headwater.lineage.traversal.request import DEPTH_DEFAULT, DEPTH_MAX, LineageRequest
from headwater.rest.operations import Api, ArgumentError, Operation, OperationRequest

ARROW = "application/vnd.apache.arrow.stream"


class MediaTypeError(HeadwaterError):
    """An error about a media type that this installation cannot write."""

    status = 406


class LineageTableParams(msgspec.Struct, kw_only=True):
    """Parameters of a lineage table.

    `urn` is a node of any layer. `level`, `as_of` and `after` are those of GraphQL's `lineage`.
    With `fresh`, the answer contains everything that was in the graph when the request arrived.
    """

    urn: Annotated[str, Meta(min_length=1, max_length=4_000)]
    direction: Literal["upstream", "downstream", "both"] = "both"
    depth: Annotated[int, Meta(ge=1, le=DEPTH_MAX)] = DEPTH_DEFAULT
    level: Annotated[str, Meta(max_length=100)] = ""
    as_of: datetime | None = None
    after: Annotated[str, Meta(max_length=20_000)] | None = None
    fresh: bool = False


class Fault(msgspec.Struct, omit_defaults=True):
    """An error: its code and message, the parameter at fault, and how to correct it."""

    code: str
    message: str
    field: str = ""
    hint: str = ""


class ErrorBody(msgspec.Struct):
    """The body of an error response."""

    error: Fault


def get_lineage_table(request: OperationRequest) -> LineageTable:
    """Return the lineage of a node as columns."""
    params: LineageTableParams = request.params
    return lineage_table(
        request.view,
        LineageRequest(
            (params.urn,),
            direction=params.direction.upper(),
            depth=params.depth,
            level=params.level,
            as_of=params.as_of,
            after=params.after,
            fresh=params.fresh,
        ),
    )


def write_arrow(table: LineageTable) -> bytes:
    """Return the table as two Arrow streams. Raises MediaTypeError if pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise MediaTypeError(
            "Arrow cannot be written: pyarrow is not installed",
            hint="Install headwater[pipelines], or accept application/json.",
        ) from error
    metadata = {
        name: getattr(table, name)
        for name in ("starts", "truncated", "omitted_count", "continuations")
    }
    sink = pyarrow.BufferOutputStream()
    for columns in (table.nodes, table.edges):
        content = pyarrow.table(msgspec.structs.asdict(columns))
        content = content.replace_schema_metadata({"headwater": msgspec.json.encode(metadata)})
        with pyarrow.ipc.new_stream(sink, content.schema) as stream:
            stream.write_table(content)
    return bytes(sink.getvalue())


def error_body(error: HeadwaterError, _: int) -> ErrorBody:
    """Return an error as the body of a response."""
    field = error.field if isinstance(error, ArgumentError | EventError) else ""
    return ErrorBody(
        Fault(type(error).__name__.removesuffix("Error"), error.message, field, error.hint)
    )


def lineage_table_api() -> Api:
    """Return the route of lineage tables."""
    operations = (
        Operation(
            "GET",
            "/lineage-table",
            "The lineage of a node as columns: up to 100,000 nodes and 200,000 edges",
            get_lineage_table,
            LineageTable,
            params=LineageTableParams,
            media_types={ARROW: write_arrow},
            errors={
                404: "No node has this urn.",
                406: "Arrow cannot be written by this installation.",
            },
        ),
    )
    return Api("LineageTable", ("/api/v1",), operations, ErrorBody, error_body)
