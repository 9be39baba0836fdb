"""The API of Marquez: its routes and its form of errors."""

from __future__ import annotations

from headwater.errors import EventError, HeadwaterError
from headwater.rest.marquez import catalog, edits, graphs
from headwater.rest.marquez.events import EventLog, event_operations
from headwater.rest.operations import Api, ArgumentError
from headwater.web import BodyError, MarquezError


def _marquez_error(error: HeadwaterError, status: int) -> MarquezError:
    field = error.field if isinstance(error, ArgumentError | EventError | BodyError) else ""
    return MarquezError(status, f"{field}: {error.message}" if field else error.message, error.hint)


def marquez_api(log: EventLog) -> Api:
    """Return the routes of Marquez; `log` reads the events as the spool stores them."""
    operations = (
        *catalog.OPERATIONS,
        *graphs.OPERATIONS,
        *event_operations(log),
        *edits.OPERATIONS,
    )
    return Api("Marquez", ("/api/v1",), operations, MarquezError, _marquez_error)
