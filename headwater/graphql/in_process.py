"""The schema without a server: documents of the program's own, for a caller who sees everything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from headwater.access.principal import ANONYMOUS, Principal
from headwater.errors import QueryError
from headwater.governance.policies.store import PolicyStore
from headwater.graphql.context import Context, Installation
from headwater.graphql.schema import create_schema
from headwater.lineage.view import GraphView

# Nobody else waits for the processor.
_COST_MAX = 100_000_000


class InProcessSchema:
    """The GraphQL schema over one view of the graph, with an event loop of its own."""

    def __init__(self, view: GraphView, policies: PolicyStore | None = None) -> None:
        self._view = view
        self._policies = policies or PolicyStore(None)
        self._schema = create_schema(_COST_MAX)
        self._runner = asyncio.Runner()

    def close(self) -> None:
        """End the event loop."""
        self._runner.close()

    def execute(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a document as a client would receive it: `data` and `errors`."""
        context = Context(
            self._view,
            _refuse_events,
            ANONYMOUS,
            lambda *_: None,
            installation=Installation(policies=self._policies),
        )
        result = self._runner.run(
            self._schema.execute(document, variable_values=dict(variables), context_value=context)
        )
        errors = [error.formatted for error in result.errors or ()]
        answer = {"data": result.data, **({"errors": errors} if errors else {})}
        return dict(msgspec.json.decode(msgspec.json.encode(answer)))


async def _refuse_events(_: Principal, __: list[dict[str, Any]]) -> None:
    raise QueryError("a query without a server cannot send events")
