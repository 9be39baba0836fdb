"""Marquez' list of run events, as the spool stores them, and the time range of its lists."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from headwater.errors import EventError
from headwater.rest.marquez import models
from headwater.rest.operations import ArgumentError, Operation, OperationRequest
from headwater.schema.events import SENDER_FIELD, parse_instant
from headwater.schema.headwater_facets import ANSWER_FACET
from headwater.schema.stored_json import decode, decode_struct
from headwater.schema.urns import run_urn
from headwater.schema.visibility import Visibility

# A request for events reads at most so many stored events, for at most so many seconds.
_SCANNED_MAX = 50_000
_SCAN_SECONDS_MAX = 3.0
# The most bytes of the events of one page; one event may have more.
_PAGE_BYTES_MAX = 16 * 2**20
# The plus sign of an offset, unless it is percent-encoded, arrives as a space.
_LOST_PLUS = re.compile(r"(?P<time>[^\sT]++T\S++) (?P<offset>\d\d:?\d\d)")


class EventLog(Protocol):
    """A source of the accepted events, as the spool stores them."""

    def count(self) -> int:
        """Return the number of events."""

    def bodies(self, *, newest_first: bool) -> Iterator[tuple[int, bytes]]:
        """Yield all events with their numbers in the order of receipt, or newest first."""

    def body(self, number: int) -> bytes | None:
        """Return one event; None if the log no longer has it."""


class EventsParams(models.Page, kw_only=True):
    before: str = ""
    after: str = ""
    run_id: str = ""
    sort_direction: Literal["asc", "desc"] = "desc"


class _Run(msgspec.Struct):
    runId: str = ""  # noqa: N815


class _Head(msgspec.Struct):
    """The parts of an event that decide whether it is listed, and where."""

    run: _Run | None = None
    eventTime: str | None = None  # noqa: N815


_decoder = msgspec.json.Decoder(_Head)


def parse_time(text: str, field: str) -> int | None:
    """Return microseconds since 1970; a date alone is its midnight in UTC. Raises ArgumentError."""
    text = text.strip()
    if not text:
        return None
    if lost := _LOST_PLUS.fullmatch(text):
        text = f"{lost['time']}+{lost['offset']}"
    try:
        return parse_instant(
            f"{text}T00:00:00Z" if len(text) == len("2026-01-01") else text, field=field
        )
    except EventError as error:
        raise ArgumentError(error.message, field=field) from error


def is_within(microseconds: int, begin: int | None, end: int | None) -> bool:
    """Return True if an instant is in a range; the end is not."""
    return (begin is None or microseconds >= begin) and (end is None or microseconds < end)


class _Listed(NamedTuple):
    """The events that match a request, as (event time, number), and whether all were read."""

    entries: list[tuple[int, int]]
    is_complete: bool


def events_of(log: EventLog) -> Callable[[OperationRequest], models.Events]:
    """Return the handler that lists run events by their time."""

    def list_events(request: OperationRequest) -> models.Events:
        params: EventsParams = request.params
        begin, end = parse_time(params.after, "after"), parse_time(params.before, "before")
        visibility = request.view.visibility
        is_newest_first = params.sort_direction == "desc"
        bodies = log.bodies(newest_first=is_newest_first)
        if params.run_id:
            bodies = _naming(params.run_id, bodies)
        listed = _matching(bodies, visibility, begin, end, params.run_id)
        entries = sorted(listed.entries, reverse=is_newest_first)
        events: list[dict[str, Any]] = []
        size = 0
        for _, number in entries[params.offset : params.offset + params.limit]:
            body = log.body(number)
            size += len(body or b"")
            if size > _PAGE_BYTES_MAX and events:
                raise _too_large(len(events))
            event = _visible(body, visibility) if body is not None else None
            if event is not None:
                events.append(event)
        # The log counts further events, and those of datasets and jobs, too.
        is_unknown = not listed.is_complete and visibility.is_unrestricted
        is_filtered = begin is not None or end is not None or bool(params.run_id)
        total = log.count() if is_unknown and not is_filtered else len(entries)
        return models.Events(events=events, total_count=total)

    return list_events


def _too_large(fitting: int) -> ArgumentError:
    return ArgumentError(
        f"{fitting + 1} events of this page have more than {_PAGE_BYTES_MAX} bytes",
        field="limit",
        hint=f"Ask for {fitting} at most.",
    )


def _naming(run_id: str, bodies: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the events whose bytes hold a run id, as far as they can be read in time.

    Producers write an id as it is or in the escapes of JSON.
    """
    deadline = time.monotonic() + _SCAN_SECONDS_MAX
    written = {json.dumps(run_id)[1:-1].encode(), msgspec.json.encode(run_id)[1:-1]}
    for number, body in bodies:
        if time.monotonic() > deadline:
            return
        if any(text in body for text in written):
            yield number, body


def _matching(
    bodies: Iterator[tuple[int, bytes]],
    visibility: Visibility,
    begin: int | None,
    end: int | None,
    run_id: str,
) -> _Listed:
    """Return the visible run events in a time range; of one run, if `run_id` is given."""
    deadline = time.monotonic() + _SCAN_SECONDS_MAX
    entries: list[tuple[int, int]] = []
    for count, (number, body) in enumerate(bodies):
        if count >= _SCANNED_MAX or time.monotonic() > deadline:
            return _Listed(entries, is_complete=False)
        instant = _run_event_time(body, run_id)
        if instant is None or not is_within(instant, begin, end):
            continue
        if visibility.is_unrestricted or _visible(body, visibility) is not None:
            entries.append((instant, number))
    return _Listed(entries, is_complete=True)


def _run_event_time(body: bytes, run_id: str = "") -> int | None:
    """Return the time of a run event in microseconds since 1970; None for any other event.

    With a `run_id`, events of other runs have none either.
    """
    try:
        head = decode_struct(_decoder, body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if head.run is None or (run_id and run_urn(head.run.runId) != run_urn(run_id)):
        return None
    try:
        return parse_instant(head.eventTime or "")
    except EventError:
        return 0


def _visible(body: bytes, visibility: Visibility) -> dict[str, Any] | None:
    """Return an event without its hidden parts.

    Returns None if its own job or dataset is hidden, or a dataset that its answer cites.
    """
    try:
        event: dict[str, Any] = decode(body)
    except EventError:
        return None
    # It names all namespaces of the key that sent the event.
    event.pop(SENDER_FIELD, None)
    if visibility.is_unrestricted:
        return event
    entities = [event[key] for key in ("job", "dataset") if isinstance(event.get(key), dict)]
    facets = (event.get("dataset") or {}).get("facets") or {}
    if ANSWER_FACET in facets:
        answer = facets[ANSWER_FACET]
        cites = answer.get("cites") if isinstance(answer, dict) else None
        listed = cites if isinstance(cites, list) and cites else [None]
        entities += [cite if isinstance(cite, dict) else {} for cite in listed]
    if not entities or not all(visibility.includes(_namespace(entity)) for entity in entities):
        return None
    try:
        pruned: dict[str, Any] = visibility.prune(event)
    except RecursionError:  # the event is nested too deeply to be pruned
        return None
    return pruned


def _namespace(entity: dict[str, Any]) -> str | None:
    """Return the namespace; None for a citation of another answer, which has none."""
    namespace = entity.get("namespace")
    return namespace if isinstance(namespace, str) else None


def event_operations(log: EventLog) -> tuple[Operation, ...]:
    """Return the operations on events; `log` reads the stored ones."""
    return (
        Operation(
            "GET",
            "/events/lineage",
            "Run events as the spool stores them",
            events_of(log),
            models.Events,
            EventsParams,
        ),
    )
