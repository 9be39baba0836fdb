"""Traces in the schema: which runs served one request, across systems."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Annotated

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import First, page_length, property_of, resolver
from headwater.graphql.types.nodes import Job, PipelineRun
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import PAGE_DEFAULT
from headwater.lineage.questions import traces as listing
from headwater.lineage.questions.traces import TRACES_MAX, trace_link

_SERVICE = "SERVICE"


@strawberry.type(description="A distributed trace, as far as runs name it.")
class DistributedTrace:
    trace_id: ID = strawberry.field(description="The trace id: 32 hexadecimal digits.")
    truncated: bool = strawberry.field(description="True if more than 200 runs name the trace.")
    urns: strawberry.Private[list[str]]

    @resolver("The visible runs that name the trace, newest start first, 200 at most.")
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.load_existing(self.urns)]

    @resolver("The services among the jobs of these runs, by urn.")
    async def services(self, info: Info) -> list[Job]:
        links = await info.context.run_links.load_many(self.urns)
        urns = chain.from_iterable(one.get("jobs", []) for one in links)
        jobs = await Job.all(info, sorted(set(urns)))
        return [job for job in jobs if await property_of(info, job.urn, "type", str) == _SERVICE]

    @resolver("The address of the trace by the setting HEADWATER_TRACE_URL; null without it.")
    def link(self, info: Info) -> str | None:
        return trace_link(info.context.trace_url, self.trace_id)


@strawberry.type
class TraceQueries:
    @resolver(
        "The trace with this id, or the traces that the newest runs name. A list: empty if no "
        "visible run names the trace."
    )
    async def traces(
        self,
        info: Info,
        trace_id: Annotated[
            str | None,
            strawberry.argument(description="Only this trace, by its 32 hexadecimal digits."),
        ] = None,
        first: First = PAGE_DEFAULT,
    ) -> list[DistributedTrace] | None:
        view, length = info.context.view, page_length(first, limit=TRACES_MAX)
        if trace_id is None:
            ask = partial(listing.newest_traces, view, length)
            found = await info.context.run_in_thread(ask)
        else:
            one = await info.context.run_in_thread(listing.find_trace, view, trace_id)
            found = [one] if one.runs else []
        return [
            DistributedTrace(trace_id=ID(one.trace_id), truncated=one.truncated, urns=one.runs)
            for one in found[:length]
        ]
