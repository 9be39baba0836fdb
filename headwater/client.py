"""The small Python API: register sources, runs, artifacts and answers, and ask where an answer came from.

    headwater = Headwater("http://127.0.0.1:8000")
    crm = headwater.source("crm-export", origin="Salesforce", row_count=14_200)
    run = headwater.pipeline_run("enrich-1", pipeline_name="enrich-contacts", inputs=[crm], status="success")
    contacts = headwater.artifact("contacts", produced_by=run, row_count=13_940)
    headwater.answer("retention-q1", content="churn fell 4.2 %", cites=[contacts])
    headwater.trace("retention-q1")["sources"]

What is registered goes as ordinary OpenLineage events through the same durable spool as everything else: when a call
returns, it is on disk; the graph follows, usually within a second. Only the standard library is needed.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.errors import (
    EventError,
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)
from headwater.schema import headwater_facets as native
from headwater.schema.headwater_facets import DEFAULT_NAMESPACE

API_KEY = "HEADWATER_API_KEY"
TRIES = 4
BACKOFF_SECONDS = 0.3

_TRACE = """query ($id: ID!) { trace(answerId: $id) {
  answer { answerId type content generatedAt generatedBy }
  sources { urn namespace name origin format rowCount capturedAt checksum }
  artifacts { urn namespace name runId type storagePath rowCount createdAt }
  runs { urn runId status startedAt finishedAt job { namespace name } }
  edges { source target type }
  truncated } }"""
_FAILED = """query ($first: Int!) { failedRuns(first: $first) { edges { node {
  runId status failedAt error artifacts { namespace name }
  downstream { datasets { namespace name } jobs { namespace name } answers { answerId } } } } } }"""

_ERRORS = {"NOT_FOUND": NotFoundError, "FORBIDDEN": ForbiddenError}

DatasetName = tuple[str, str]


@dataclass(frozen=True)
class Source:
    """A registered source; may be given as an input or a citation."""

    namespace: str
    name: str

    @property
    def reference(self) -> dict[str, str]:
        return {"namespace": self.namespace, "name": self.name}


@dataclass(frozen=True)
class Run:
    """A registered run."""

    run_id: str
    pipeline_name: str
    namespace: str


@dataclass(frozen=True)
class Artifact:
    """A registered version of a dataset; given as an input or a citation it means that very version."""

    namespace: str
    name: str
    run_id: str

    @property
    def reference(self) -> dict[str, str]:
        return {"namespace": self.namespace, "name": self.name, "runId": self.run_id}


def _named(name: DatasetName) -> dict[str, str]:
    namespace, own = name
    return {"namespace": namespace, "name": own}


class Headwater:
    """A Headwater API at `url`. `api_key`: without it that in HEADWATER_API_KEY, if any. `namespace` is that of what is
    registered without one."""

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
        self._timeout_seconds = timeout_seconds

    def source(self, name: str, *, namespace: str | None = None, **properties: Any) -> Source:
        """Register one capture of raw data: origin, format, row_count, captured_at, checksum."""
        namespace = namespace or self._namespace
        self.send([native.source_event(name, namespace=namespace, **properties)])
        return Source(namespace, name)

    def pipeline_run(
        self,
        run_id: str,
        *,
        pipeline_name: str,
        inputs: Iterable[Source | Artifact] = (),
        namespace: str | None = None,
        **properties: Any,
    ) -> Run:
        """Register a run: status (`success`, `failed`, `running`), started_at, finished_at, version, triggered_by,
        error. Raises QueryError for another status."""
        namespace = namespace or self._namespace
        references = [dataset.reference for dataset in inputs]
        try:
            events = native.run_events(
                run_id,
                pipeline_name=pipeline_name,
                namespace=namespace,
                inputs=references,
                **properties,
            )
        except KeyError as error:
            known = ", ".join(native.STATUS_EVENT_TYPES)
            raise QueryError(f"status {error} is none of {known}") from error
        self.send(events)
        return Run(run_id, pipeline_name, namespace)

    def artifact(
        self, name: str, *, produced_by: Run, namespace: str | None = None, **properties: Any
    ) -> Artifact:
        """Register a version of a dataset that a run made: type, row_count, storage_path, created_at, schema."""
        namespace = namespace or self._namespace
        self.send(
            [
                native.artifact_event(
                    name, run_id=produced_by.run_id, namespace=namespace, **properties
                )
            ]
        )
        return Artifact(namespace, name, produced_by.run_id)

    def answer(
        self, answer_id: str, *, cites: Iterable[Source | Artifact | str], **properties: Any
    ) -> str:
        """Register an answer: type, content, generated_at, generated_by. It cites artifacts, sources, or other
        answers by id. Returns its id."""
        citations = [
            {"answerId": cited} if isinstance(cited, str) else cited.reference for cited in cites
        ]
        self.send([native.answer_event(answer_id, cites=citations, **properties)])
        return answer_id

    def join_names(self, one: DatasetName, other: DatasetName) -> None:
        """Decide that two names, each (namespace, name), are one dataset, whatever symlinks facets say."""
        self.send([native.symlinks_event(_named(one), same=[_named(other)])])

    def part_names(self, one: DatasetName, other: DatasetName) -> None:
        """Decide that two names, each (namespace, name), are two datasets, whatever symlinks facets say. The newest
        decision on a pair counts; names that are both joined to a third stay one dataset."""
        self.send([native.symlinks_event(_named(one), apart=[_named(other)])])

    def trace(self, answer_id: str) -> dict[str, Any]:
        """Where an answer came from: `answer`, `sources`, `artifacts`, `runs`, `edges`, `truncated`.

        Raises NotFoundError when there is no such answer (yet).
        """
        return dict(self.ask(_TRACE, {"id": answer_id})["trace"])

    def failed_runs(self, first: int = 20) -> list[dict[str, Any]]:
        """Failed runs, newest first, with their artifacts and what lies downstream of them."""
        return [edge["node"] for edge in self.ask(_FAILED, {"first": first})["failedRuns"]["edges"]]

    def send(self, events: list[native.Event]) -> None:
        """Send OpenLineage events. Raises EventError for the first that is refused; the others are kept."""
        answer = self._post("/api/v1/lineage/batch", events)
        for failed in answer["failed_events"]:
            raise EventError(failed["reason"], field=failed.get("field", ""))

    def ask(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a GraphQL query. Raises NotFoundError, QueryError for any other error in the answer,
        UnavailableError when there is none."""
        answer = self._post("/graphql", {"query": query, "variables": variables})
        for error in answer.get("errors") or ():
            code = (error.get("extensions") or {}).get("code")
            raise _ERRORS.get(str(code), QueryError)(error["message"])
        return dict(answer["data"])

    def _post(self, path: str, content: Any) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        request = urllib.request.Request(self._url + path, json.dumps(content).encode(), headers)
        reason = ""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(BACKOFF_SECONDS * 2**attempt)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout_seconds) as answer:
                    return dict(json.load(answer))
            except urllib.error.HTTPError as error:
                with error:
                    reason = error.read().decode(errors="replace")[:500]
                if error.code in (401, 403):
                    kind = UnauthorizedError if error.code == 401 else ForbiddenError
                    raise kind(
                        f"{self._url} answered {error.code}: {reason}", hint=f"Set {API_KEY}."
                    ) from error
                if error.code != 503:
                    raise HeadwaterError(
                        f"{self._url}{path} answered {error.code}: {reason}"
                    ) from error
            except OSError as error:
                reason = str(error)
        raise UnavailableError(
            f"{self._url} does not answer: {reason}", hint="`headwater up` starts it."
        )
