"""The routes of Marquez."""

from __future__ import annotations

from headwater.errors import EventError, HeadwaterError
from headwater.rest.marquez.catalogue import OPERATIONS
from headwater.rest.marquez.graphs import EventLog, operations
from headwater.rest.marquez.models import MarquezError
from headwater.rest.operations import Api, ArgumentError
from headwater.web import BodyError


def _refused(error: HeadwaterError, status: int) -> MarquezError:
    field = error.field if isinstance(error, ArgumentError | EventError | BodyError) else ""
    return MarquezError(status, f"{field}: {error.message}" if field else error.message)


def marquez_api(log: EventLog) -> Api:
    """What Marquez' clients read; `log` has the events as they are kept."""
    return Api("Marquez", ("/api/v1",), (*OPERATIONS, *operations(log)), MarquezError, _refused)
