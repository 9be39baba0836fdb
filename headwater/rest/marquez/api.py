"""The API of Marquez: its routes and its form of errors."""

from __future__ import annotations

from headwater.errors import EventError, HeadwaterError
from headwater.rest.marquez.catalog import OPERATIONS
from headwater.rest.marquez.graphs import EventLog, operations
from headwater.rest.marquez.models import MarquezError
from headwater.rest.operations import Api, ArgumentError
from headwater.web import BodyError


def _marquez_error(error: HeadwaterError, status: int) -> MarquezError:
    field = error.field if isinstance(error, ArgumentError | EventError | BodyError) else ""
    return MarquezError(status, f"{field}: {error.message}" if field else error.message)


def marquez_api(log: EventLog) -> Api:
    """Return the routes of Marquez; `log` reads the events as the spool stores them."""
    return Api(
        "Marquez", ("/api/v1",), (*OPERATIONS, *operations(log)), MarquezError, _marquez_error
    )
