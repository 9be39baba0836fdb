"""Writes of answers and tags: rows become OpenLineage events, which go to the API after all tasks.

Tasks only create the events. The driver sends them when all tasks have succeeded. So a write with a
wrong row sends nothing, and a repeated task changes nothing. All events of a write have the time of
its plan as event time, so sending them twice leaves the graph unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from pyspark.sql import Row
from pyspark.sql.datasource import DataSourceWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from headwater.client import Headwater
from headwater.errors import HeadwaterError, QueryError, SettingsError
from headwater.schema import headwater_facets as native
from headwater.schema.urns import parse_urn
from headwater.spark_source.options import WRITABLE_COLUMNS, WriteOptions

EVENTS_PER_BATCH = 500
BATCH_BYTES_MAX = 4 * 2**20

Event = native.Event


@dataclass
class TaskEvents(WriterCommitMessage):
    """The events of one task: the subject of each, and the event as JSON."""

    events: list[tuple[str, bytes]]


class HeadwaterWriter(DataSourceWriter):
    """A write of one kind."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        writable = WRITABLE_COLUMNS[options.kind]
        names = schema.fieldNames()
        for name, is_needed in writable.items():
            if is_needed and name not in names:
                raise SettingsError(
                    f"a write of {options.kind} needs the column {name!r}; "
                    f"the frame has {', '.join(names)}"
                )
        for name in names:
            if name not in writable:
                raise SettingsError(
                    f"a write of {options.kind} has no column {name!r}, only {', '.join(writable)}"
                )
        self._options = options
        self._event_time = native.now()

    def write(self, iterator: Iterator[Row]) -> TaskEvents:
        """Create the events of one task. Raises QueryError for a wrong row."""
        convert = answer_event if self._options.kind == "answers" else tags_event
        events = (convert(row.asDict(recursive=True), self._event_time) for row in iterator)
        return TaskEvents([(subject, json.dumps(event).encode()) for subject, event in events])

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Send the events of all tasks. Raises HeadwaterError with the number of events sent."""
        written = [message for message in messages if isinstance(message, TaskEvents)]
        events = deduplicate(chain.from_iterable(message.events for message in written))
        api = Headwater(
            self._options.url,
            api_key=self._options.access_key,
            timeout_seconds=self._options.seconds,
        )
        events_sent = 0
        for batch in batches(events):
            try:
                api.send([json.loads(event) for event in batch])
            except HeadwaterError as error:
                raise type(error)(
                    (
                        f"{error.message} ({events_sent} of {len(events)} {self._options.kind} "
                        f"were sent)"
                    ),
                    hint=error.hint,
                ) from error
            events_sent += len(batch)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Discard the events: none is sent before the commit."""


def deduplicate(events: Iterable[tuple[str, bytes]]) -> list[bytes]:
    """Return the distinct events.

    Args:
        events: The subject of each event, and the event as JSON.

    Raises:
        QueryError: Two different events have one subject; neither would be the newer one.
    """
    distinct: dict[str, bytes] = {}
    for subject, event in events:
        if distinct.setdefault(subject, event) != event:
            raise QueryError(f"two rows differ about {subject}", hint="Write one row for each.")
    return list(distinct.values())


def batches(events: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the events in batches within the limits of the API."""
    batch: list[bytes] = []
    size = 0
    for event in events:
        if batch and (len(batch) == EVENTS_PER_BATCH or size + len(event) > BATCH_BYTES_MAX):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += len(event)
    if batch:
        yield batch


def answer_event(row: Mapping[str, Any], event_time: str) -> tuple[str, Event]:
    """Convert a row of answers to an event.

    Args:
        row: The columns of the row.
        event_time: The time of the write, ISO 8601.

    Returns:
        The subject and the event.

    Raises:
        QueryError: The row has no answer id, or a wrong citation.
    """
    answer_id = row["answerId"]
    if not isinstance(answer_id, str) or not answer_id.strip():
        raise QueryError("the column 'answerId' is empty in a row of answers")
    cites = row["cites"]
    if cites is not None and not isinstance(cites, list):
        raise QueryError(
            "the column 'cites' must be a list of urns, or of structs of namespace and name"
        )
    event = native.answer_event(
        answer_id,
        cites=[_citation(cited) for cited in cites or ()],
        type=row.get("type"),
        content=row.get("content"),
        generated_at=_instant(row.get("generatedAt")) or event_time,
        generated_by=row.get("generatedBy"),
        event_time=event_time,
    )
    return f"the answer {answer_id!r}", event


def _instant(value: Any) -> str | None:
    # Spark passes naive times in the time zone of the machine.
    return (
        value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        if isinstance(value, datetime)
        else value
    )


def _citation(cited: Any) -> dict[str, str]:
    if isinstance(cited, Mapping):
        citation = {key: str(value) for key, value in cited.items() if value is not None}
        if citation.get("answerId") or (citation.get("namespace") and citation.get("name")):
            return citation
        raise QueryError(
            f"the column 'cites' has {citation} without namespace and name, or answerId"
        )
    kind, parts = parse_urn(str(cited))
    if kind == "answer" and parts:
        return {"answerId": parts[0]}
    if kind not in {"dataset", "source", "artifact", "column"} or not parts:
        raise QueryError(
            f"the column 'cites' has {cited!r}; "
            "an answer cites datasets, versions, columns and answers"
        )
    more = {"artifact": "runId", "column": "field"}.get(kind)
    return {"namespace": parts[0], "name": parts[1], **({more: parts[2]} if more else {})}


def tags_event(row: Mapping[str, Any], event_time: str) -> tuple[str, Event]:
    """Convert a row of tags to an event with all tags of one dataset or job.

    Args:
        row: The columns of the row.
        event_time: The time of the write, ISO 8601.

    Returns:
        The subject and the event.

    Raises:
        QueryError: The urn is not that of a dataset or job, or a tag is wrong.
    """
    urn = str(row["urn"] or "")
    kind, parts = parse_urn(urn)
    if kind not in {"dataset", "job"} or not parts:
        raise QueryError(f"the column 'urn' has {urn!r}; only datasets and jobs have tags")
    if not isinstance(row["tags"], list):
        raise QueryError(
            f"the column 'tags' of {urn} must be a list; an empty list removes all tags"
        )
    tags = [_tag(tag, urn) for tag in row["tags"]]
    return f"the tags of {urn}", native.tags_event(
        parts[0], parts[1], tags, is_job=kind == "job", event_time=event_time
    )


def _tag(tag: Any, urn: str) -> dict[str, str]:
    if isinstance(tag, Mapping):
        parts = {key: str(value) for key, value in tag.items() if value is not None}
    else:
        key, _, value = str(tag or "").partition("=")
        if ":" in key:
            raise QueryError(
                f"the tag {tag!r} of {urn} is ambiguous: it may be of a field",
                hint="Write such tags as structs of key, value and field.",
            )
        parts = {"key": key, "value": value}
    if not parts.get("key", "").strip():
        raise QueryError(f"the column 'tags' of {urn} has {tag!r} without a key")
    return {**parts, "value": parts.get("value") or "true"}
