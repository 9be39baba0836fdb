"""All routes of REST."""

from __future__ import annotations

from starlette.routing import BaseRoute

from headwater.rest.assets import assets_api
from headwater.rest.operations import Api, Reader, Submit


def apis() -> list[Api]:
    """Every group of operations."""
    return [assets_api()]


def rest_routes(reader: Reader, submit: Submit) -> list[BaseRoute]:
    """The routes. `reader` gives the database as whoever asks may see it; `submit` returns once its events are safe on
    disk."""
    return [route for api in apis() for route in api.routes(reader, submit)]
