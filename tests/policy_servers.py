"""A real API over the real Neo4j, with policies, for the tools that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware

from headwater.cypher.driver.database import Database
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.store import PolicyState
from headwater.lineage.view import GraphView
from headwater.rest.app import rest_routes
from headwater.rest.policies import PolicyContext
from tests.rest.conftest import HeaderPrincipal, Log, serving


@contextmanager
def policy_server(database: Database, text: str) -> Iterator[str]:
    """Serve decisions under the policies of a YAML text; yield the address."""
    policies = parse_policies([PolicyFile("all.yaml", text)])

    async def submit(*_: object) -> None:
        raise AssertionError("decisions send no events")

    context = PolicyContext(lambda: PolicyState(policies), lambda *_: None)
    routes = rest_routes(lambda _: GraphView(database), submit, Log(), policies=context)
    with serving(Starlette(routes=routes, middleware=[Middleware(HeaderPrincipal)])) as address:
        yield address
