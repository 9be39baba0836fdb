"""Large lineages: `GET /api/v1/map/lineage`, as columns in JSON, or as Arrow where that is asked for.

Arrow is two streams, one after the other: the nodes, then the edges. What else there is to tell stands in the metadata
of the first schema, under `headwater`, as JSON.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.errors import EventError, HeadwaterError
from headwater.lineage.questions.lineage import DEPTH_DEFAULT, DEPTH_MAX
from headwater.lineage.questions.lineage_table import LineageTable, lineage_table
from headwater.rest.operations import Api, ArgumentError, Asked, Operation

ARROW = "application/vnd.apache.arrow.stream"


class FormError(HeadwaterError):
    """A form of the answer that this installation cannot write."""

    status = 406


class WhichTable(msgspec.Struct, kw_only=True):
    """`urn` is a node of any layer; `level`, `as_of` and `after` are as those of the field `lineage` of GraphQL.
    `fresh`: the answer knows of everything that was in the graph when it was asked."""

    urn: Annotated[str, Meta(min_length=1, max_length=4_000)]
    direction: Literal["upstream", "downstream", "both"] = "both"
    depth: Annotated[int, Meta(ge=1, le=DEPTH_MAX)] = DEPTH_DEFAULT
    level: Annotated[str, Meta(max_length=100)] = ""
    as_of: datetime | None = None
    after: Annotated[str, Meta(max_length=20_000)] | None = None
    fresh: bool = False


class Fault(msgspec.Struct, omit_defaults=True):
    """What is wrong, in which parameter, and how it is put right."""

    code: str
    message: str
    field: str = ""
    hint: str = ""


class Refused(msgspec.Struct):
    """A request that was refused."""

    error: Fault


def get_lineage_table(asked: Asked) -> LineageTable:
    which: WhichTable = asked.arguments
    return lineage_table(
        asked.database,
        [which.urn],
        direction=which.direction.upper(),
        depth=which.depth,
        level=which.level,
        as_of=which.as_of,
        after=which.after,
        fresh=which.fresh,
    )


def write_arrow(table: LineageTable) -> bytes:
    """Two streams of Arrow. Raises FormError where pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise FormError(
            "Arrow cannot be written here: pyarrow is not installed",
            hint="Install headwater[pipelines], or ask for application/json.",
        ) from error
    told = {name: getattr(table, name) for name in ("starts", "truncated", "left_out", "expand")}
    sink = pyarrow.BufferOutputStream()
    for columns in (table.nodes, table.edges):
        content = pyarrow.table(msgspec.structs.asdict(columns))
        content = content.replace_schema_metadata({"headwater": msgspec.json.encode(told)})
        with pyarrow.ipc.new_stream(sink, content.schema) as stream:
            stream.write_table(content)
    return bytes(sink.getvalue())


def refused(error: HeadwaterError, _: int) -> Refused:
    """An error as the routes here tell it."""
    field = error.field if isinstance(error, ArgumentError | EventError) else ""
    return Refused(
        Fault(type(error).__name__.removesuffix("Error"), error.message, field, error.hint)
    )


def tables_api() -> Api:
    """The routes of large answers."""
    operations = (
        Operation(
            "GET",
            "/lineage",
            "What lies upstream or downstream of a node, as columns: up to 100,000 nodes and 200,000 edges",
            get_lineage_table,
            LineageTable,
            arguments=WhichTable,
            forms={ARROW: write_arrow},
            refusals={
                404: "There is no such node.",
                406: "Arrow cannot be written by this installation.",
            },
        ),
    )
    return Api("Map", ("/api/v1/map",), operations, Refused, refused)
