"""The small Python API: register sources, runs, artifacts and answers, and trace an answer to its
sources.

    headwater = Headwater("http://127.0.0.1:8000")
    crm = headwater.source("crm-export", origin="Salesforce", row_count=14_200)
    run = headwater.pipeline_run(
        "enrich-1", pipeline_name="enrich-contacts", inputs=[crm], status="success"
    )
    contacts = headwater.artifact("contacts", produced_by=run, row_count=13_940)
    headwater.answer("retention-q1", content="churn fell 4.2 %", cites=[contacts])
    headwater.trace("retention-q1")["sources"]

Every registration is an ordinary OpenLineage event. When a call returns, the event is on disk in
the spool; the graph follows, usually within a second. `Client` asks questions with typed answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.addresses import shown
from headwater.backoff import Backoff
from headwater.client.address import API_KEY
from headwater.client.backend import data_of_answer, read_document
from headwater.errors import (
    EventError,
    ForbiddenError,
    HeadwaterError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)
from headwater.schema import headwater_facets as native
from headwater.schema.headwater_facets import DEFAULT_NAMESPACE
from headwater.transport import SERVICE_UNAVAILABLE, HttpSender, bearer_headers

TRIES = 4
BACKOFF = Backoff(first_seconds=0.6, max_seconds=5.0)

_FAILED = """query ($first: Int!) { failedRuns(first: $first) { edges { node {
  runId status failedAt error artifacts { namespace name }
  downstream { datasets { namespace name } jobs { namespace name } answers { answerId } } } } } }"""

DatasetName = tuple[str, str]


@dataclass(frozen=True)
class Source:
    """A registered source; usable as an input or a citation.

    Attributes:
        namespace: Namespace of the dataset.
        name: Name of the dataset.
    """

    namespace: str
    name: str

    @property
    def reference(self) -> dict[str, str]:
        """Return the JSON that cites this source."""
        return {"namespace": self.namespace, "name": self.name}


@dataclass(frozen=True)
class Run:
    """A registered run.

    Attributes:
        run_id: Id of the run.
        pipeline_name: Name of its job.
        namespace: Namespace of its job.
    """

    run_id: str
    pipeline_name: str
    namespace: str


@dataclass(frozen=True)
class Artifact:
    """A registered version of a dataset; as an input or a citation it means that version.

    Attributes:
        namespace: Namespace of the dataset.
        name: Name of the dataset.
        run_id: Id of the run that produced the version.
    """

    namespace: str
    name: str
    run_id: str

    @property
    def reference(self) -> dict[str, str]:
        """Return the JSON that cites this version."""
        return {"namespace": self.namespace, "name": self.name, "runId": self.run_id}


def _dataset_name(name: DatasetName) -> dict[str, str]:
    namespace, own = name
    return {"namespace": namespace, "name": own}


class Headwater:
    """A client of one Headwater API. Threads may share it.

    Every method that sends raises UnavailableError when the API does not answer after 4 tries,
    UnauthorizedError for a missing or invalid key, and ForbiddenError for a key without the scope.

    Args:
        url: Address of the API, without a path.
        api_key: An API key; by default the value of `HEADWATER_API_KEY`, if it is set.
        namespace: Namespace of registrations that name none.
        timeout_seconds: Limit of one attempt.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        timeout_seconds: float = 10.0,
    ) -> None:
        self._url = url.rstrip("/")
        self._api_key = api_key or os.environ.get(API_KEY)
        self._namespace = namespace
        self._sender = HttpSender(timeout_seconds=timeout_seconds, pauses=BACKOFF.pauses(TRIES - 1))

    def source(
        self,
        name: str,
        *,
        namespace: str | None = None,
        origin: str | None = None,
        format: str | None = None,
        row_count: int | None = None,
        captured_at: str | None = None,
        checksum: str | None = None,
    ) -> Source:
        """Register one capture of raw data.

        Args:
            name: Name of the dataset.
            namespace: Its namespace; by default that of the client.
            origin: System or organisation that the data comes from.
            format: Format of the data, for example `csv`.
            row_count: Number of rows.
            captured_at: Time of the capture, ISO 8601 with a zone.
            checksum: Checksum of the data, with its algorithm.

        Returns:
            The source, to be used as an input or a citation.

        Raises:
            EventError: The API refused the event.
        """
        namespace = namespace or self._namespace
        event = native.source_event(
            name,
            namespace=namespace,
            origin=origin,
            format=format,
            row_count=row_count,
            captured_at=captured_at,
            checksum=checksum,
        )
        self.send([event])
        return Source(namespace, name)

    def pipeline_run(
        self,
        run_id: str,
        *,
        pipeline_name: str,
        inputs: Iterable[Source | Artifact] = (),
        namespace: str | None = None,
        status: str = "COMPLETE",
        started_at: str | None = None,
        finished_at: str | None = None,
        version: str | None = None,
        triggered_by: str | None = None,
        error: str | None = None,
    ) -> Run:
        """Register a run and its inputs.

        Args:
            run_id: Id of the run; a UUID, or any other text.
            pipeline_name: Name of its job.
            inputs: The sources and artifacts that the run read.
            namespace: Namespace of the job; by default that of the client.
            status: `success`, `failed`, `running`, `aborted`, or an event type of OpenLineage.
            started_at: Time of the start, ISO 8601 with a zone.
            finished_at: Time of the end, ISO 8601 with a zone.
            version: Version of the code.
            triggered_by: Person or schedule that started the run.
            error: Message of a failed run.

        Returns:
            The run, to be named as the producer of artifacts.

        Raises:
            QueryError: `status` is unknown.
            EventError: A time is malformed, the run ends before it starts, or the API refused it.
        """
        namespace = namespace or self._namespace
        try:
            events = native.run_events(
                run_id,
                pipeline_name=pipeline_name,
                namespace=namespace,
                inputs=[dataset.reference for dataset in inputs],
                status=status,
                started_at=started_at,
                finished_at=finished_at,
                version=version,
                triggered_by=triggered_by,
                error=error,
            )
        except KeyError as fault:
            statuses = ", ".join(native.STATUS_EVENT_TYPES)
            raise QueryError(f"status {fault} is none of {statuses}") from fault
        self.send(events)
        return Run(run_id, pipeline_name, namespace)

    def artifact(
        self,
        name: str,
        *,
        produced_by: Run,
        namespace: str | None = None,
        type: str | None = None,
        row_count: int | None = None,
        storage_path: str | None = None,
        created_at: str | None = None,
        schema: str | None = None,
    ) -> Artifact:
        """Register a version of a dataset.

        Args:
            name: Name of the dataset.
            produced_by: The run that produced the version.
            namespace: Namespace of the dataset; by default that of the client.
            type: Type of the artifact, for example `table`.
            row_count: Number of rows.
            storage_path: Path or address of the data.
            created_at: Time of the creation, ISO 8601 with a zone.
            schema: Version or name of the schema.

        Returns:
            The artifact, to be used as an input or a citation.

        Raises:
            EventError: The API refused the event.
        """
        namespace = namespace or self._namespace
        event = native.artifact_event(
            name,
            run_id=produced_by.run_id,
            namespace=namespace,
            type=type,
            row_count=row_count,
            storage_path=storage_path,
            created_at=created_at,
            schema=schema,
        )
        self.send([event])
        return Artifact(namespace, name, produced_by.run_id)

    def answer(
        self,
        answer_id: str,
        *,
        cites: Iterable[Source | Artifact | str],
        type: str | None = None,
        content: str | None = None,
        generated_at: str | None = None,
        generated_by: str | None = None,
    ) -> str:
        """Register an answer and its citations.

        Args:
            answer_id: Id of the answer.
            cites: Artifacts and sources, and ids of other answers.
            type: Type of the answer, for example `report`.
            content: The answer, or a summary of it.
            generated_at: Time of the answer, ISO 8601 with a zone.
            generated_by: Person, program or model that gave the answer.

        Returns:
            `answer_id`.

        Raises:
            EventError: The API refused the event.
        """
        citations = [
            {"answerId": cited} if isinstance(cited, str) else cited.reference for cited in cites
        ]
        event = native.answer_event(
            answer_id,
            cites=citations,
            type=type,
            content=content,
            generated_at=generated_at,
            generated_by=generated_by,
        )
        self.send([event])
        return answer_id

    def merge_aliases(self, one: DatasetName, other: DatasetName) -> None:
        """Decide that two names are one dataset, whatever the `symlinks` facets of producers state.

        Args:
            one: Namespace and name of the one.
            other: Namespace and name of the other.

        Raises:
            EventError: The API refused the event.
        """
        self.send([native.symlinks_event(_dataset_name(one), same=[_dataset_name(other)])])

    def split_aliases(self, one: DatasetName, other: DatasetName) -> None:
        """Decide that two names are two datasets, whatever the `symlinks` facets of producers
        state.

        The newest decision on a pair counts. Two names that are both merged with a third stay one.

        Args:
            one: Namespace and name of the one.
            other: Namespace and name of the other.

        Raises:
            EventError: The API refused the event.
        """
        self.send([native.symlinks_event(_dataset_name(one), apart=[_dataset_name(other)])])

    def trace(self, answer_id: str) -> dict[str, Any]:
        """Trace an answer to its sources. `Client.trace` returns the same, typed.

        Args:
            answer_id: Id of the answer.

        Returns:
            `answer`, `sources`, `artifacts`, `runs`, `edges` and `truncated`.

        Raises:
            NotFoundError: The graph has no such answer, or not yet.
        """
        return dict(self.ask(read_document("trace"), {"answerId": answer_id})["trace"])

    def failed_runs(self, first: int = 20) -> list[dict[str, Any]]:
        """Return the failed runs, newest first, with their artifacts and everything downstream.

        Args:
            first: Maximum number of runs.

        Returns:
            One dictionary a run, with the fields of the GraphQL query `failedRuns`.
        """
        return [edge["node"] for edge in self.ask(_FAILED, {"first": first})["failedRuns"]["edges"]]

    def send(self, events: list[native.Event]) -> None:
        """Send OpenLineage events.

        Args:
            events: Events as JSON values.

        Raises:
            EventError: The API refused an event; the error is that of the first one. It accepted
                the others.
        """
        answer = self._post("/api/v1/lineage/batch", events)
        for failed in answer["failed_events"]:
            raise EventError(failed["reason"], field=failed.get("field", ""))

    def ask(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Run a GraphQL query.

        Args:
            query: Text of the query.
            variables: Values of its variables.

        Returns:
            The data of the response.

        Raises:
            NotFoundError: A requested node does not exist.
            ForbiddenError: The key lacks a scope that a field needs.
            QueryError: The response has another error.
        """
        answer = self._post("/graphql", {"query": query, "variables": variables})
        return data_of_answer(answer)

    def _post(self, path: str, content: Any) -> dict[str, Any]:
        url = self._url + path
        body = json.dumps(content).encode()
        try:
            response = self._sender.post(url, body, bearer_headers(self._api_key))
        except UnavailableError as error:
            raise self._unavailable(error.message) from error
        if response.is_success:
            return dict(json.loads(response.body))
        reason = f"{shown(self._url)} answered {response.status}: {response.text()}"
        if response.status == 401:
            raise UnauthorizedError(reason, hint=f"Set {API_KEY}.")
        if response.status == 403:
            raise ForbiddenError(reason, hint=f"Set {API_KEY}.")
        if response.status == SERVICE_UNAVAILABLE:
            raise self._unavailable(response.text())
        raise HeadwaterError(f"{shown(url)} answered {response.status}: {response.text()}")

    def _unavailable(self, reason: str) -> UnavailableError:
        return UnavailableError(
            f"{shown(self._url)} does not answer: {reason}", hint="`headwater up` starts it."
        )
