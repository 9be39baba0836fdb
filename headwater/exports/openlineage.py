"""The stored events of a part of the graph, as valid OpenLineage events.

Every facet is kept as it was received, except for names that are outside of the part: they are
removed from it. Folding the exported events gives the lineage of the part.

| stored event | exported event |
|---|---|
| of a run or a job in the part | the same, with the inputs and outputs that are in the part |
| of another run or job | for each of its datasets in the part, an event that describes it |
| of a dataset in the part | the same |
| of an answer | the same, if everything that it cites is in the part |

An event that is stored in a lenient form gets a valid one: a time with a zone, a type in capitals,
no null, `producer`, `schemaURL`, `_producer` and `_schemaURL`. Ids of runs stay as sent. A number
that Python cannot hold is a `msgspec.Raw`; `headwater.schema.stored_json.encode` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import EventError
from headwater.exports.part import Part
from headwater.ingest.spool.reader import SpoolReader
from headwater.schema.events import parse, to_datetime
from headwater.schema.headwater_facets import ANSWER_FACET, Event
from headwater.schema.naming import Naming
from headwater.schema.stored_json import decode

_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
_UNKNOWN_PRODUCER = "urn:headwater:unknown-producer"
_UNKNOWN_FACET = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/BaseFacet"
_VALID_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII
)
_SIDES = (("inputs", "inputFacets"), ("outputs", "outputFacets"))

NAMED_MAX = 10

IsShown = Callable[[str, str], bool]


@dataclass
class EventCounts:
    """The number of stored events that were read, written, malformed, and cut from the spool.

    `first_malformed` are the sequence numbers of the first malformed events in the spool.
    """

    read: int = 0
    written: int = 0
    malformed: int = 0
    cut: int = 0
    first_malformed: list[int] = field(default_factory=list)

    def add_malformed(self, seq: int) -> None:
        """Count an event that cannot be read."""
        self.malformed += 1
        if len(self.first_malformed) < NAMED_MAX:
            self.first_malformed.append(seq)


@dataclass(frozen=True)
class TimeRange:
    """Microseconds since 1970 between which the time of an event lies; None: no limit."""

    since: int | None = None
    until: int | None = None

    def includes(self, instant: int) -> bool:
        """Return True from `since` on, and before `until`."""
        return (self.since is None or instant >= self.since) and (
            self.until is None or instant < self.until
        )


def stored_events(
    reader: SpoolReader, part: Part, naming: Naming, times: TimeRange, counts: EventCounts
) -> Iterator[Event]:
    """Yield the events of a part in the order of their receipt; fill `counts`."""
    last = reader.count()
    for stored in reader.events(1, last):
        counts.read += 1
        try:
            instant = parse(stored.body, received=stored.received).instant
            if not times.includes(instant):
                continue
            events = list(events_of_part(dict(decode(stored.body)), instant, part, naming))
        except (EventError, RecursionError):
            counts.add_malformed(stored.seq)
            continue
        counts.written += len(events)
        yield from events
    counts.cut = last - counts.read


def events_of_part(event: Event, instant: int, part: Part, naming: Naming) -> Iterator[Event]:
    """Yield what a stored event reports about a part, as valid events."""

    def includes_dataset(namespace: str, name: str) -> bool:
        normalised = naming.normalise(namespace, name)
        return part.includes_dataset(normalised.namespace, normalised.name)

    def is_shown(namespace: str, name: str) -> bool:
        return includes_dataset(namespace, name) or part.includes_job(namespace, name)

    described = event.get("dataset")
    if isinstance(event.get("job"), Mapping):
        yield from _of_job(event, instant, part, includes_dataset, is_shown)
    if isinstance(described, Mapping) and _includes_described(described, part, includes_dataset):
        valid = _valid_dataset(described, None)
        yield _envelope(event, "DatasetEvent", instant) | {
            "dataset": valid if part.is_whole else _prune(valid, is_shown)
        }


def _of_job(
    event: Event, instant: int, part: Part, includes_dataset: IsShown, is_shown: IsShown
) -> Iterator[Event]:
    job = event["job"]
    sides = {}
    for side, usage in _SIDES:
        datasets = [
            _valid_dataset(dataset, usage)
            for dataset in event.get(side) or ()
            if includes_dataset(dataset["namespace"], dataset["name"])
        ]
        if not part.is_whole:
            datasets = [{**one, **_pruned_facets(one, is_shown)} for one in datasets]
        sides[side] = datasets
    if not part.includes_job(job["namespace"], job["name"]):
        yield from _descriptions(event, instant, [*sides["inputs"], *sides["outputs"]])
        return
    is_run = isinstance(event.get("run"), Mapping)
    valid = _envelope(event, "RunEvent" if is_run else "JobEvent", instant)
    if is_run:
        if event.get("eventType"):
            valid["eventType"] = str(event["eventType"]).strip().upper()
        valid["run"] = {"runId": event["run"]["runId"], **_facets_of(event["run"])}
    valid["job"] = {"namespace": job["namespace"], "name": job["name"], **_facets_of(job)}
    if not part.is_whole:
        for subject in ("run", "job"):
            if subject in valid:
                valid[subject] |= _pruned_facets(valid[subject], is_shown)
    yield valid | sides


def _descriptions(event: Event, instant: int, datasets: list[Event]) -> Iterator[Event]:
    """Yield what a job outside of the part reports about datasets in it."""
    for dataset in datasets:
        if dataset.get("facets"):
            about = {key: dataset[key] for key in ("namespace", "name", "facets")}
            yield _envelope(event, "DatasetEvent", instant) | {"dataset": about}


def _includes_described(dataset: Mapping[str, Any], part: Part, includes_dataset: IsShown) -> bool:
    """Return True if a dataset event is about the part; an answer needs all that it cites."""
    facets = dataset.get("facets") or {}
    answer = facets.get(ANSWER_FACET) if isinstance(facets, Mapping) else None
    if part.is_whole:
        return True
    if not isinstance(answer, Mapping):
        return includes_dataset(dataset["namespace"], dataset["name"])
    cited = [one for one in answer.get("cites") or () if isinstance(one, Mapping)]
    return bool(cited) and all(
        includes_dataset(str(one.get("namespace", "")), str(one.get("name", ""))) for one in cited
    )


def _envelope(event: Event, definition: str, instant: int) -> Event:
    sent = event.get("eventTime")
    is_valid = isinstance(sent, str) and _VALID_TIME.fullmatch(sent) is not None
    time = sent if is_valid else to_datetime(instant).isoformat().replace("+00:00", "Z")
    own = f"{_SPEC}#/$defs/{definition}"
    schema_url = _text(event.get("schemaURL"))
    return {
        "eventTime": time,
        "producer": _text(event.get("producer")) or _UNKNOWN_PRODUCER,
        "schemaURL": schema_url if schema_url.endswith(definition) else own,
    }


def _valid_dataset(dataset: Mapping[str, Any], usage: str | None) -> Event:
    """Return a dataset with its facets, and with those of its use in a run."""
    valid = {"namespace": dataset["namespace"], "name": dataset["name"], **_facets_of(dataset)}
    return valid | _facets_of(dataset, usage) if usage else valid


def _without_nulls(facet: Mapping[str, Any]) -> Event:
    return {field: value for field, value in facet.items() if value is not None}


def _facets_of(subject: Mapping[str, Any], key: str = "facets") -> Event:
    """Return the facets of a subject under their key, if it has any."""
    sent = subject.get(key)
    if not isinstance(sent, Mapping):
        return {}
    facets = {
        name: {
            "_producer": _UNKNOWN_PRODUCER,
            "_schemaURL": _UNKNOWN_FACET,
            **_without_nulls(facet),
        }
        for name, facet in sent.items()
        if isinstance(facet, Mapping)
    }
    return {key: facets} if facets else {}


def _pruned_facets(subject: Event, is_shown: IsShown) -> Event:
    """Return the facets of a subject without names outside of the part."""
    keys = [key for key in subject if key.lower().endswith("facets")]
    return {key: _prune(subject[key], is_shown) for key in keys}


def _prune(value: Any, is_shown: IsShown) -> Any:
    """Return JSON without named datasets and jobs that are not shown.

    An object that loses a named object loses its sense, and goes too: a parent without its job.
    """
    if isinstance(value, Mapping):
        return {
            key: _prune(item, is_shown)
            for key, item in value.items()
            if not _is_outside(item, is_shown)
        }
    if isinstance(value, list):
        return [_prune(item, is_shown) for item in value if not _is_outside(item, is_shown)]
    return value


def _is_outside(value: Any, is_shown: IsShown) -> bool:
    """Return True for a name that is not shown, and for an object that has one as a field."""
    if not isinstance(value, Mapping):
        return False
    if _is_hidden_name(value, is_shown):
        return True
    return any(
        isinstance(item, Mapping) and _is_hidden_name(item, is_shown) for item in value.values()
    )


def _is_hidden_name(value: Mapping[str, Any], is_shown: IsShown) -> bool:
    namespace, name = value.get("namespace"), value.get("name")
    if not isinstance(namespace, str):
        return False
    return not is_shown(namespace, name if isinstance(name, str) else "")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
