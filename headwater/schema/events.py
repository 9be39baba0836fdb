"""OpenLineage events as received: the envelope parsed and validated, every facet kept as sent.

`parse` returns an `Event` with valid names, times and type, or raises an `EventError` that names
the field. It is strict about meaning: a run event has a run and a job, and 30 February is no day.
It is lenient about form: it accepts a run id that is no UUID, a time without a zone (read as UTC),
an event type in lower case, a null for an absent list or object, a lone surrogate (replaced by
U+FFFD), and unknown facets and fields.

A spool may hold events of earlier versions without a time, or with a date alone. `parse` reads
them, and `require_event_time` keeps further ones out.

The facets of a dataset or a job repeat from run to run. Events with the same bytes share one
`Facets`, which serves as a key of memos.

Source: the OpenLineage specification 2-0-2 (RunEvent, JobEvent, DatasetEvent).
"""

from __future__ import annotations

import codecs
import re
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from headwater.errors import EventError
from headwater.schema.memo import Memo
from headwater.schema.visibility import ALL

T = TypeVar("T")

STATES = ("START", "RUNNING", "OTHER", "COMPLETE", "ABORT", "FAIL")
TERMINAL = frozenset({"COMPLETE", "ABORT", "FAIL"})
# START < RUNNING, OTHER < terminal: the order of events of one run at one instant.
RANKS = {"START": 0, "": 1, "RUNNING": 1, "OTHER": 1, "COMPLETE": 2, "ABORT": 2, "FAIL": 2}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ZONE_NAME = re.compile(r"\[[\w/+-]*\]$")
_TIME_OF_DAY = re.compile(r"\s*[\dW-]+[Tt ]\d\d")
# ISO 8601 has 24:00, the end of a day, and second 60. `datetime` has neither.
_HOUR_24 = re.compile(r"(?<=[T ])24(?=(?::?00){0,2}(?:[.,]0+)?(?:[Z+-]|$))")
_SECOND_60 = re.compile(r"(?<=[T ]\d\d:[0-5]\d:)60|(?<=[T ]\d\d[0-5]\d)60")
_TIME_HINT = "Send an ISO 8601 time with a zone, for example 2026-01-31T12:00:00Z."
_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)


class Facets(dict[str, msgspec.Raw]):
    """Facets by name. Never changed: a key of memos, compared by identity."""

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has none

    def size(self) -> int:
        """Return the number of bytes sent, without the names."""
        return sum([memoryview(raw).nbytes for raw in self.values()])


class Dataset(msgspec.Struct, frozen=True, gc=False):
    namespace: str
    name: str
    facets: Facets | None = None
    input_facets: dict[str, msgspec.Raw] | None = None
    output_facets: dict[str, msgspec.Raw] | None = None


class Job(msgspec.Struct, frozen=True, gc=False):
    namespace: str
    name: str
    facets: Facets | None = None


class Run(msgspec.Struct, frozen=True, rename="camel", gc=False):
    run_id: str
    facets: dict[str, msgspec.Raw] | None = None


# A field of the envelope that the acceptance adds (`headwater.ingest.receive.sender`).
SENDER_FIELD = "headwater_sender"
_ABSENT = msgspec.Raw(b"null")


class _Dataset(msgspec.Struct, frozen=True, rename="camel", gc=False):
    namespace: str
    name: str
    facets: msgspec.Raw = _ABSENT
    input_facets: dict[str, msgspec.Raw] | None = None
    output_facets: dict[str, msgspec.Raw] | None = None


class _Job(msgspec.Struct, frozen=True, gc=False):
    namespace: str
    name: str
    facets: msgspec.Raw = _ABSENT


class _Envelope(msgspec.Struct, frozen=True, rename="camel", gc=False):
    event_time: str | None = None
    event_type: str | None = None
    producer: Any = None
    schema_url: Any = msgspec.field(default=None, name="schemaURL")
    run: Run | None = None
    job: _Job | None = None
    dataset: _Dataset | None = None
    inputs: list[_Dataset] | None = None
    outputs: list[_Dataset] | None = None
    sender: Any = msgspec.field(default=None, name=SENDER_FIELD)


class Event(msgspec.Struct, frozen=True, gc=False):
    """A valid event.

    `instant` is its time and `received` its receipt, in microseconds since 1970, UTC. `state` is ""
    without an event type. Its subject is either `run` with `job`, or `job` alone, or `dataset`. The
    schema of the specification allows a `dataset` in a run event, which it then describes as well.

    `sender` has the namespaces of the restricted key that sent it, as a JSON list of patterns, and
    is "" for an unrestricted key. `first_received` is the first receipt of an event that came more
    than once, 0 if that is not known to the reader.

    The other fields record its form: texts as sent, "" if absent, and whether a lone surrogate was
    replaced.
    """

    instant: int
    received: int
    state: str
    run: Run | None
    job: Job | None
    dataset: Dataset | None
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    producer: str = ""
    schema_url: str = ""
    event_time: str = ""
    event_type: str = ""
    repaired: bool = False
    sender: str = ""
    first_received: int = 0

    @property
    def rank(self) -> int:
        """Return the rank of the state among events of one instant."""
        return RANKS[self.state]


_decoder = msgspec.json.Decoder(_Envelope)
_facets_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
# By their bytes. Each entry costs those and about as much for the decoded values.
_FACETS_BYTES = 1_000
_facets_by_bytes: Memo[bytes, Facets] = Memo(
    64 * 2**20, size=lambda raw, _: len(raw) + _FACETS_BYTES
)


def parse_instant(text: str, *, field: str = "eventTime") -> int:
    """Parse an ISO 8601 time to microseconds since 1970, UTC; without a zone it is read as UTC.

    Further digits of the seconds are cut. Raises EventError if it is no time or lies outside the
    years 1 to 9999.
    """
    try:
        # RFC 3339 allows t and z; Java's ZonedDateTime adds the zone's name in brackets.
        instant = (_moment(_ZONE_NAME.sub("", text.strip()).upper()) - _EPOCH) // _MICROSECOND
        to_datetime(instant)
    except (ValueError, OverflowError) as error:
        raise EventError(
            f"{field} {text[:80]!r} is not a time",
            field=field,
            hint=_TIME_HINT,
        ) from error
    return instant


def parse_instant_or_none(text: str | None) -> int | None:
    """Return the instant of a text in microseconds since 1970; None if the text is malformed."""
    if not text:
        return None
    try:
        return parse_instant(text)
    except EventError:
        return None


def _moment(text: str) -> datetime:
    try:
        return _in_zone(datetime.fromisoformat(text))
    except ValueError:
        return _carried(text)


def _carried(text: str) -> datetime:
    """Return the moment of a text with hour 24 or a leap second. Raises ValueError."""
    midnight = _HOUR_24.sub("00", text)
    if midnight != text:
        return _in_zone(datetime.fromisoformat(midnight)) + _DAY
    moment = _in_zone(datetime.fromisoformat(_SECOND_60.sub("59", text))) + _SECOND
    utc = moment.astimezone(UTC)
    if (utc.hour, utc.minute, utc.second) != (0, 0, 0):
        raise ValueError("a leap second ends a day in UTC")
    return moment


def _in_zone(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def require_event_time(event: Event, *, allow_missing: bool = False) -> None:
    """Raise EventError unless `eventTime` is given, with a time of day."""
    if not event.event_time:
        if allow_missing:
            return
        raise EventError(
            "eventTime is missing",
            field="eventTime",
            hint=f"{_TIME_HINT} HEADWATER_ALLOW_MISSING_EVENT_TIME=true accepts events without it.",
        )
    if not _TIME_OF_DAY.match(event.event_time):
        raise EventError(
            f"eventTime {event.event_time[:80]!r} is not a date with a time of day",
            field="eventTime",
            hint=_TIME_HINT,
        )


def to_datetime(instant: int) -> datetime:
    """Convert microseconds since 1970 to a datetime in UTC.

    Raises OverflowError outside the years 1 to 9999.
    """
    return _EPOCH + timedelta(microseconds=instant)


def parse(body: bytes, *, received: int) -> Event:
    """Parse an event; `received` (microseconds since 1970) replaces an absent eventTime.

    Raises EventError: status 400 for a body that is no JSON, 422 with the field for one that is no
    event.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return _event(body, received, repaired=False)
    except EventError as error:
        # Python and JavaScript write a lone surrogate (a file name that is no UTF-8, a text cut
        # within a character) as an escape that strict parsers refuse. The event is repaired and
        # kept.
        if error.status != 400 or (repaired := replace_surrogates(body)) == body:
            raise
        return _event(repaired, received, repaired=True)


def _event(body: bytes, received: int, *, repaired: bool) -> Event:
    envelope = _decoded(_decoder, body)
    _check_kind(envelope)
    if envelope.run is not None:
        _check_name(envelope.run.run_id, "run.runId")
    return Event(
        instant=parse_instant(envelope.event_time) if envelope.event_time else received,
        received=received,
        state=_state(envelope.event_type),
        run=envelope.run,
        job=_job(envelope.job) if envelope.job is not None else None,
        dataset=_dataset(envelope.dataset, "dataset") if envelope.dataset is not None else None,
        inputs=_datasets(envelope.inputs, "inputs"),
        outputs=_datasets(envelope.outputs, "outputs"),
        producer=_text(envelope.producer),
        schema_url=_text(envelope.schema_url),
        event_time=envelope.event_time or "",
        event_type=envelope.event_type or "",
        repaired=repaired,
        sender=_sender(envelope.sender),
    )


def _sender(namespaces: Any) -> str:
    if not isinstance(namespaces, list) or ALL in namespaces:
        return ""
    return msgspec.json.encode(sorted(map(str, namespaces))).decode()


def _datasets(parsed: list[_Dataset] | None, field: str) -> tuple[Dataset, ...]:
    return (
        tuple([_dataset(dataset, f"{field}[{i}]") for i, dataset in enumerate(parsed)])
        if parsed
        else ()
    )


def _dataset(parsed: _Dataset, field: str) -> Dataset:
    _check_name(parsed.namespace, f"{field}.namespace")
    _check_name(parsed.name, f"{field}.name")
    return Dataset(
        parsed.namespace,
        parsed.name,
        _facets(parsed.facets, field),
        parsed.input_facets,
        parsed.output_facets,
    )


def _job(parsed: _Job) -> Job:
    _check_name(parsed.namespace, "job.namespace")
    _check_name(parsed.name, "job.name")
    return Job(parsed.namespace, parsed.name, _facets(parsed.facets, "job"))


def _facets(raw_facets: msgspec.Raw, field: str) -> Facets | None:
    if raw_facets == _ABSENT:
        return None
    raw = bytes(raw_facets)
    facets = _facets_by_bytes.get(raw)
    if facets is None:
        by_name = _decoded(_facets_decoder, raw, f"{field}.facets")
        facets = Facets(by_name)
        _facets_by_bytes.put(raw, facets)
    return facets


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


_ESCAPES = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..|\\.", re.DOTALL)


def is_utf8(text: str) -> bool:
    """Return False for a text with a lone surrogate, such as an argument that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def replace_surrogates(body: bytes) -> bytes:
    """Return JSON with U+FFFD for each lone surrogate."""
    return _ESCAPES.sub(_replace_surrogate, body)


def _replace_surrogate(escape: re.Match[bytes]) -> bytes:
    alone = len(escape.group()) == len(rb"\ud800")
    return rb"\ufffd" if alone else escape.group()


def _decoded(decoder: msgspec.json.Decoder[T], raw: bytes, path: str = "") -> T:
    """Decode `raw`; `path` is its path in the event, for errors."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        field = _field_of(str(error)) or path
        raise EventError(f"the body is not an OpenLineage event: {error}", field=field) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EventError(
            f"the body is not JSON: {error}", status=400, hint="Send one JSON object, UTF-8."
        ) from error
    except RecursionError as error:
        raise EventError("the body is nested too deeply", status=400) from error


_PATH = re.compile(r"at `\$\.?([^`]*)`$")
_MISSING = re.compile(r"missing required field `([^`]+)`")


def _field_of(message: str) -> str:
    """Return the path of the field in a message of msgspec, for example `run.runId`."""
    path = _PATH.search(message)
    missing = _MISSING.search(message)
    names = [path.group(1) if path else "", missing.group(1) if missing else ""]
    return ".".join(name for name in names if name)


def _check_kind(envelope: _Envelope) -> None:
    if envelope.run is not None and envelope.job is None:
        raise EventError(
            "a run event must have a job", field="job", hint="Add job.namespace and job.name."
        )
    is_run_event = bool(envelope.event_type) or str(envelope.schema_url).endswith("/RunEvent")
    if envelope.run is None and is_run_event:
        raise EventError("a run event must have a run", field="run", hint="Add run.runId.")
    if envelope.run is None and envelope.job is None and envelope.dataset is None:
        raise EventError(
            "the body is not an OpenLineage event: it has no run, job or dataset",
            field="run",
            hint="Send a RunEvent (run and job), a JobEvent (job) or a DatasetEvent (dataset).",
        )
    if envelope.dataset is not None and envelope.job is not None and envelope.run is None:
        raise EventError(
            "an event with a dataset and a job is neither a dataset event nor a job event",
            field="dataset",
            hint="Send two events, or add the run.",
        )


def _check_name(text: str, field: str) -> None:
    if not text.strip():
        raise EventError(f"{field} is empty", field=field)


def _state(event_type: str | None) -> str:
    state = (event_type or "").strip().upper()
    if state not in RANKS:
        raise EventError(
            f"eventType {state[:40]!r} is none of {', '.join(STATES)}",
            field="eventType",
        )
    return state
