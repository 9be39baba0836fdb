"""The routes of the REST API and their description at `/openapi.json`."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from headwater.rest.analyses import analyses_api
from headwater.rest.assets import assets_api
from headwater.rest.atlas import atlas_api
from headwater.rest.lineage_table import lineage_table_api
from headwater.rest.marquez.api import marquez_api
from headwater.rest.marquez.events import EventLog
from headwater.rest.openapi import PATH, document
from headwater.rest.operations import Api, Submit, ViewOf
from headwater.rest.policies import PolicyContext, policies_api
from headwater.web import json_response


def rest_routes(
    view_of: ViewOf,
    submit: Submit,
    log: EventLog,
    *,
    repository_root: Path | None = None,
    policies: PolicyContext | None = None,
) -> list[BaseRoute]:
    """Return all routes of the REST API.

    `view_of` returns the graph as the principal of a request may see it. `submit` returns once
    its events are safe on disk. `log` reads the events as the spool stores them. `repository_root`
    is the folder of the code that registered assets point to. `policies` decides on proposed
    actions.
    """
    apis: list[Api] = [
        assets_api(repository_root),
        marquez_api(log),
        atlas_api(),
        lineage_table_api(),
        analyses_api(),
    ]
    if policies is not None:
        apis.append(policies_api(policies))
    described = document(apis)

    async def describe(_: Request) -> Response:
        return json_response(described)

    routes: list[BaseRoute] = [Route(PATH, describe)]
    for api in apis:
        routes += api.routes(view_of, submit)
    return routes
