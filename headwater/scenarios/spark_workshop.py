"""The estate of a story whose jobs are Spark applications.

A table is a folder with one folder for each night, as `orders/dt=2026-03-01`. A job reads the
newest night of its inputs, and writes that in which it runs. All lineage comes from the OpenLineage
listener. The workshop adds, as a scheduler does, what Spark does not know to the run of its query:
the version and the source of the code, the owner, and the measures of the written columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import ServerError
from headwater.scenarios.measures import column_metrics
from headwater.scenarios.relay import open_relay
from headwater.scenarios.rows import Rows
from headwater.scenarios.spark_driver import SparkDriver
from headwater.scenarios.workshop import Event, Workshop, code_facets, with_heads
from headwater.schema import headwater_facets as native
from headwater.schema.urns import job_urn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FORMATS = ("json", "csv")


@dataclass(frozen=True)
class SparkJob:
    """A Spark application that writes one table.

    reads: by input, the columns and types that the code declares.
    compute: a function of a module, from the frames of the inputs to that of the output.
    writes: the columns and types of the output.
    format: json or csv.
    """

    name: str
    reads: Mapping[str, Mapping[str, str]]
    output: str
    compute: Callable[..., DataFrame]
    writes: Mapping[str, str]
    owner: str = ""
    version: str = "1.0"
    format: str = "json"


class SparkWorkshop(Workshop):
    """A workshop with a real Spark."""

    def __init__(
        self,
        namespace: str,
        folder: Path,
        send: Callable[[Sequence[Event]], None],
        *,
        tonight: datetime | None = None,
    ) -> None:
        super().__init__(namespace, folder, send, tonight=tonight, uses_servers=True)
        self._relay = self.resources.enter_context(open_relay())
        self._driver = SparkDriver(folder, self._relay.url, namespace)
        self.resources.callback(self._driver.close)
        # By the name of an application, that of its query.
        self._queries: dict[str, str] = {}

    @property
    def engine(self) -> str:
        """Return the words for the platform of the jobs."""
        return "a real Spark, with the OpenLineage listener"

    def place(self, table: str) -> tuple[str, str]:
        """Return the name that the listener gives the folder of a table."""
        return "file", f"{self.folder}/{table}"

    def urn(self, node: str) -> str:
        """Return the urn of a node; that of an application is the urn of its query."""
        kind, _, name = node.partition(":")
        if kind == "job":
            return job_urn(self.namespace, self._queries.get(name, name))
        return super().urn(node)

    def short(self, urn: str) -> str:
        """Return a urn as `kind:name`; a query has the name of its application."""
        prefix = self.urn("dataset:")
        if urn.startswith(prefix):
            return f"dataset:{urn.removeprefix(prefix)}"
        short = super().short(urn)
        return short.partition(".")[0] if short.startswith("job:") else short

    def read(self, table: str) -> Rows:
        """Return the rows of the newest night of a table."""
        files = sorted(self._newest(table).glob("*.json"))
        texts = [file.read_text(encoding="utf-8").splitlines() for file in files]
        return [json.loads(line) for line in chain.from_iterable(texts)]

    def submit(self, job: SparkJob, when: datetime) -> bool:
        """Run a job in the night of a time. Return True if it succeeded."""
        folder = self._night_folder(job.output, when)
        application = {
            "name": job.name,
            "function": f"{job.compute.__module__}:{job.compute.__qualname__}",
            "inputs": [self._input(name, types) for name, types in job.reads.items()],
            "output": {"path": str(folder), "format": job.format},
        }
        self._relay.begin(when)
        ok = self._driver.run(application)
        events = self._relay.take()
        self.send(*events)
        query = self._query(events, job)
        self.runs.setdefault(job.name, []).append(query["run"]["runId"])
        self._queries[job.name] = query["job"]["name"]
        rows = self.read(job.output) if ok and job.format == "json" else None
        self.send(self._addition(job, query, rows))
        return ok

    def _query(self, events: Sequence[Event], job: SparkJob) -> Event:
        """Return the first event of the query that writes the output; without one, the first."""
        place = self.place(job.output)
        for event in events:
            outputs = [(one["namespace"], one["name"]) for one in event.get("outputs") or ()]
            if place in outputs:
                return event
        if not events:
            raise ServerError(
                f"the listener of {job.name} sent no events",
                hint=f"Read {self.folder / 'spark.log'}.",
            )
        return events[0]

    def _addition(self, job: SparkJob, query: Event, rows: Rows | None) -> Event:
        """Return an event of the run of a query, with what Spark does not know of it."""
        outputs: list[Event] = []
        if rows is not None:
            namespace, name = self.place(job.output)
            measures = {"rowCount": len(rows), "columnMetrics": column_metrics(rows, job.writes)}
            facets = with_heads({"dataQualityMetrics": measures})
            outputs = [{"namespace": namespace, "name": name, "facets": facets}]
        run = {native.RUN_FACET: {"version": job.version}}
        return {
            "eventType": "OTHER",
            "eventTime": query["eventTime"],
            "producer": native.PRODUCER,
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": query["run"]["runId"], "facets": with_heads(run)},
            "job": {
                "namespace": query["job"]["namespace"],
                "name": query["job"]["name"],
                "facets": with_heads(code_facets(job.compute, job.owner)),
            },
            "inputs": [],
            "outputs": outputs,
        }

    def _input(self, table: str, types: Mapping[str, str]) -> dict[str, str]:
        folder = self._newest(table)
        found = [kind for kind in _FORMATS if any(folder.glob(f"*.{kind}"))]
        schema = ", ".join(f"`{name}` {type}" for name, type in types.items())
        # A deleted table has folders without files.
        kind = found[0] if found else _FORMATS[0]
        return {"path": str(folder), "format": kind, "schema": schema}

    def _newest(self, table: str) -> Path:
        """Return the folder of the newest night that has data; the newest one if none has."""
        nights = list((self.folder / table).glob("dt=*"))
        return max(filter(_has_data, nights), default=max(nights))

    def _night_folder(self, table: str, when: datetime) -> Path:
        nights_ago = -((when - self.tonight) // timedelta(days=1))
        return self.folder / table / f"dt={self.night(nights_ago).date().isoformat()}"

    def _delete(self, table: str) -> None:
        for file in (self.folder / table).glob("dt=*/*.json"):
            file.unlink()

    def _write_delivery(self, table: str, rows: Rows, when: datetime) -> None:
        file = self._night_folder(table, when) / "delivery.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _has_data(folder: Path) -> bool:
    return any(any(folder.glob(f"*.{kind}")) for kind in _FORMATS)


def submit(shop: Workshop, job: SparkJob, when: datetime) -> bool:
    """Run a Spark job of a story. Raise ServerError for a workshop without Spark."""
    if not isinstance(shop, SparkWorkshop):
        raise ServerError(f"{job.name} needs a Spark", hint="Set `uses_spark` in the story.")
    return shop.submit(job, when)
