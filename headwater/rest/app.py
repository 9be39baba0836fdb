"""All routes of REST, and the description of them at `/openapi.json`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from headwater.rest.analyses import analyses_api
from headwater.rest.assets import assets_api
from headwater.rest.atlas import atlas_api
from headwater.rest.lineage_table import tables_api
from headwater.rest.marquez.api import marquez_api
from headwater.rest.marquez.graphs import EventLog
from headwater.rest.openapi import PATH, document
from headwater.rest.operations import Api, Reader, Submit
from headwater.web import json_response


def rest_routes(reader: Reader, submit: Submit, log: EventLog) -> list[BaseRoute]:
    """The routes. `reader` gives the database as whoever asks may see it; `submit` returns once its events are safe on
    disk; `log` has the events as they are kept."""
    apis: list[Api] = [assets_api(), marquez_api(log), atlas_api(), tables_api(), analyses_api()]
    described = document(apis)

    async def describe(_: Request) -> Response:
        return json_response(described)

    return [*(route for api in apis for route in api.routes(reader, submit)), Route(PATH, describe)]
