"""Writes of answers and tags: rows become OpenLineage events, which go to the API once every task is done.

Tasks only make the events; the driver sends them when all have succeeded, so that a write of which any row is wrong
sends nothing, and a task that is tried again, or run twice, changes nothing. All events of a write happened at the one
instant at which it was planned: sending them twice, or writing the same rows again, leaves the graph as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Row
from pyspark.sql.datasource import DataSourceWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from headwater.client import Headwater
from headwater.errors import HeadwaterError, QueryError, SettingsError
from headwater.schema import headwater_facets as native
from headwater.schema.urns import parse_urn
from headwater.spark_source.options import WRITTEN, Writing

EVENTS_PER_BATCH = 500
BATCH_BYTES_MAX = 4 * 2**20

Event = native.Event


@dataclass
class Written(WriterCommitMessage):
    """What one task made: each event as JSON, and what it is about."""

    events: list[tuple[str, bytes]]


class HeadwaterWriter(DataSourceWriter):
    """A write of one kind."""

    def __init__(self, options: Writing, schema: StructType) -> None:
        known = WRITTEN[options.kind]
        names = schema.fieldNames()
        for name, is_needed in known.items():
            if is_needed and name not in names:
                raise SettingsError(
                    f"a write of {options.kind} needs the column {name!r}; there are {', '.join(names)}"
                )
        for name in names:
            if name not in known:
                raise SettingsError(
                    f"a write of {options.kind} takes no column {name!r}, only {', '.join(known)}"
                )
        self._options = options
        self._at = native.now()

    def write(self, iterator: Iterator[Row]) -> Written:
        make = answer if self._options.kind == "answers" else tags
        made = (make(row.asDict(recursive=True), self._at) for row in iterator)
        return Written([(about, json.dumps(event).encode()) for about, event in made])

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        events = unique(
            one for message in messages if isinstance(message, Written) for one in message.events
        )
        api = Headwater(
            self._options.url,
            api_key=self._options.access_key,
            timeout_seconds=self._options.seconds,
        )
        sent = 0
        for batch in batches(events):
            try:
                api.send([json.loads(event) for event in batch])
            except HeadwaterError as error:
                raise type(error)(
                    f"{error.message} (of {len(events)} {self._options.kind}, {sent} had been taken)",
                    hint=error.hint,
                ) from error
            sent += len(batch)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Nothing was sent before the commit, so there is nothing to take back."""


def unique(made: Iterable[tuple[str, bytes]]) -> list[bytes]:
    """The events, each once. Raises QueryError when two say different things of one: neither would be the newer."""
    found: dict[str, bytes] = {}
    for about, event in made:
        if found.setdefault(about, event) != event:
            raise QueryError(
                f"two rows tell different things of {about}", hint="Write one row of each."
            )
    return list(found.values())


def batches(events: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The events in batches that the API takes."""
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


def answer(row: Mapping[str, Any], at: str) -> tuple[str, Event]:
    """A row of answers as an event. Raises QueryError for one that tells none."""
    answer_id = row["answerId"]
    if not isinstance(answer_id, str) or not answer_id.strip():
        raise QueryError("the column 'answerId' is empty in a row of answers")
    cites = row["cites"]
    if cites is not None and not isinstance(cites, list):
        raise QueryError(
            "the column 'cites' is a list of urns, or of structs of namespace and name"
        )
    event = native.answer_event(
        answer_id,
        cites=[_citation(cited) for cited in cites or ()],
        type=row.get("type"),
        content=row.get("content"),
        generated_at=_instant(row.get("generatedAt")) or at,
        generated_by=row.get("generatedBy"),
        event_time=at,
    )
    return f"the answer {answer_id!r}", event


def _instant(value: Any) -> str | None:
    # Spark hands times to Python in the time zone of the machine, without saying so.
    return (
        value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        if isinstance(value, datetime)
        else value
    )


def _citation(cited: Any) -> dict[str, str]:
    if isinstance(cited, Mapping):
        said = {key: str(value) for key, value in cited.items() if value is not None}
        if said.get("answerId") or (said.get("namespace") and said.get("name")):
            return said
        raise QueryError(
            f"the column 'cites' has {said}, which names neither namespace and name nor answerId"
        )
    kind, parts = parse_urn(str(cited))
    if kind == "answer" and parts:
        return {"answerId": parts[0]}
    if kind not in {"dataset", "source", "artifact", "column"} or not parts:
        raise QueryError(
            f"the column 'cites' has {cited!r}: an answer cites datasets, versions, columns and answers"
        )
    more = {"artifact": "runId", "column": "field"}.get(kind)
    return {"namespace": parts[0], "name": parts[1], **({more: parts[2]} if more else {})}


def tags(row: Mapping[str, Any], at: str) -> tuple[str, Event]:
    """A row of tags as an event: all the tags of one dataset or job. Raises QueryError for one that tells none."""
    urn = str(row["urn"] or "")
    kind, parts = parse_urn(urn)
    if kind not in {"dataset", "job"} or not parts:
        raise QueryError(f"the column 'urn' has {urn!r}: tags are of datasets and jobs")
    if not isinstance(row["tags"], list):
        raise QueryError(f"the column 'tags' of {urn} is no list; an empty one takes all tags away")
    said = [_tag(tag, urn) for tag in row["tags"]]
    return f"the tags of {urn}", native.tags_event(
        parts[0], parts[1], said, is_job=kind == "job", event_time=at
    )


def _tag(tag: Any, urn: str) -> dict[str, str]:
    if isinstance(tag, Mapping):
        said = {key: str(value) for key, value in tag.items() if value is not None}
    else:
        key, _, value = str(tag or "").partition("=")
        if ":" in key:
            raise QueryError(
                f"the tag {tag!r} of {urn} may be of a field or not",
                hint="Write such tags as structs of key, value and field.",
            )
        said = {"key": key, "value": value}
    if not said.get("key", "").strip():
        raise QueryError(f"the column 'tags' of {urn} has {tag!r}, which names no key")
    return {**said, "value": said.get("value") or "true"}
