"""Report the offsets of streaming queries: a run of its own for each start of a query.

The OpenLineage listener reports each micro-batch as a run and sends no offsets. The listener here
gets the progress of each query from Spark, and sends it as events of one run: START, a RUNNING for
each batch with the offsets of each topic, and COMPLETE or FAIL. Spark calls it beside the query, so
a query neither waits nor fails because of it.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater.errors import HeadwaterError, SettingsError
from headwater.schema.headwater_facets import PRODUCER
from headwater.schema.stream_offsets import STREAM_FACET
from headwater.spark_hooks.listener import endpoint
from headwater.spark_hooks.naming import dataset_name
from headwater.spark_hooks.send import RecentFailures, post

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

SECONDS = 2.0
ERROR_CHARACTERS_MAX = 2_000
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_JOB_TYPE = "https://openlineage.io/spec/facets/2-0-4/JobTypeJobFacet.json"
_ERROR = "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json"
_FILE_SINK = re.compile(r"FileSink\[(?P<path>.+)\]")

log = logging.getLogger("headwater")

Event = dict[str, Any]


class StreamEvents:
    """The OpenLineage events of the streaming queries of one application."""

    def __init__(self, application: str, namespace: str, brokers: str) -> None:
        self._application, self._namespace = application, namespace
        self._topics = f"kafka://{brokers.split(',')[0].strip()}"
        # By run id: the name of its job, and what it read and wrote so far.
        self._jobs: dict[str, str] = {}

    def started(self, run_id: str, name: str | None, query_id: str, time: str) -> Event:
        """Return the START of a query."""
        self._jobs[run_id] = f"{self._application}.{name or query_id}"
        return self._event("START", run_id, time)

    def progress(self, progress: Mapping[str, Any]) -> Event | None:
        """Return the event of a batch, from Spark's JSON; None if it has no offsets of Kafka."""
        run_id = str(progress["runId"])
        name = f"{self._application}.{progress.get('name') or progress['id']}"
        self._jobs.setdefault(run_id, name)
        inputs = list(self._inputs(progress.get("sources") or []))
        if not inputs:
            return None
        outputs = list(_outputs(progress.get("sink") or {}))
        return self._event("RUNNING", run_id, str(progress["timestamp"]), inputs, outputs)

    def ended(self, run_id: str, error: str | None) -> Event:
        """Return the end of a query: FAIL with an error, or else COMPLETE."""
        event = self._event("FAIL" if error else "COMPLETE", run_id, _now())
        self._jobs.pop(run_id, None)
        if error:
            event["run"]["facets"]["errorMessage"] = {
                **_facet(_ERROR),
                "message": error[:ERROR_CHARACTERS_MAX],
                "programmingLanguage": "SCALA",
            }
        return event

    def _inputs(self, sources: list[Mapping[str, Any]]) -> Iterator[Event]:
        for source in sources:
            offsets = {
                side: _decoded(source.get(side))
                for side in ("startOffset", "endOffset", "latestOffset")
            }
            for topic in sorted(set().union(*offsets.values())):
                own = {side: {topic: one[topic]} for side, one in offsets.items() if topic in one}
                facet = {**_facet(f"{PRODUCER}/facets/{STREAM_FACET}.json"), **own}
                yield {
                    "namespace": self._topics,
                    "name": topic,
                    "inputFacets": {STREAM_FACET: facet},
                }

    def _event(
        self, type: str, run_id: str, time: str, inputs: object = (), outputs: object = ()
    ) -> Event:
        job_type = {"processingType": "STREAMING", "integration": "SPARK", "jobType": "QUERY"}
        return {
            "eventType": type,
            "eventTime": time,
            "producer": PRODUCER,
            "schemaURL": _SPEC,
            "run": {"runId": run_id, "facets": {}},
            "job": {
                "namespace": self._namespace,
                "name": self._jobs.get(run_id, f"{self._application}.{run_id}"),
                "facets": {"jobType": {**_facet(_JOB_TYPE), **job_type}},
            },
            "inputs": inputs,
            "outputs": outputs,
        }


def report_streams(
    spark: SparkSession,
    *,
    brokers: str,
    namespace: str = "default",
    url: str | None = None,
    api_key: str | None = None,
) -> StreamingQueryListener:
    """Report the offsets of all streaming queries of a session, from now on.

    Args:
        spark: A running session of Spark 3.4 or later.
        brokers: The `kafka.bootstrap.servers` of the topics, for their names in lineage.
        namespace: Namespace of the jobs.
        url: Address of Headwater; by default HEADWATER_URL.
        api_key: API key, if it needs one; by default HEADWATER_API_KEY.

    Returns:
        The listener, for `spark.streams.removeListener`.

    Raises:
        SettingsError: There is no address, or it is no http or https address.
    """
    from pyspark.sql.streaming.listener import StreamingQueryListener

    address = url or os.environ.get("HEADWATER_URL") or ""
    if not address:
        raise SettingsError("HEADWATER_URL is not set", hint="Pass `url` or set the variable.")
    target = "".join(endpoint(address))
    key = api_key or os.environ.get("HEADWATER_API_KEY")
    name = str(spark.conf.get("spark.app.name", "spark"))
    events, failures = StreamEvents(name, namespace, brokers), RecentFailures()

    def send(make: Callable[[], Event | None]) -> None:
        try:
            event = make()
            if event is None or failures.includes(target):
                return
            post(target, event, api_key=key, seconds=SECONDS)
        except HeadwaterError as fault:
            failures.add(target)
            log.warning("stream_not_reported url=%s reason=%s", target, fault.message)
        except Exception:  # a query must not fail because of its lineage
            log.warning("stream_not_reported url=%s", target, exc_info=True)

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802, pyspark's name
            run, query, time = str(event.runId), str(event.id), str(event.timestamp)
            send(lambda: events.started(run, event.name, query, time))

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802, pyspark's name
            send(lambda: events.progress(json.loads(event.progress.json)))

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802, pyspark's name
            """Report nothing: an idle query has read no record."""

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802, pyspark's name
            error = str(event.exception) if event.exception else None
            send(lambda: events.ended(str(event.runId), error))

    listener = Listener()
    spark.streams.addListener(listener)
    return listener


def _outputs(sink: Mapping[str, Any]) -> Iterator[Event]:
    match = _FILE_SINK.fullmatch(str(sink.get("description") or ""))
    if match:
        namespace, name = dataset_name(match["path"])
        yield {"namespace": namespace, "name": name}


def _decoded(value: Any) -> Mapping[str, Any]:
    """Return offsets by topic; {} for those of a source that is not Kafka."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if not isinstance(value, dict):
        return {}
    return {topic: one for topic, one in value.items() if isinstance(one, dict)}


def _facet(schema: str) -> dict[str, str]:
    return {"_producer": PRODUCER, "_schemaURL": schema}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
