"""Questions to a Headwater API, with typed answers.

    from headwater import Client

    client = Client()
    client.trace("churn-q1")                    # a picture in a notebook
    client.lineage("marts/delays", direction="upstream").to_pandas().nodes
    for run in client.failed_runs(since="2h"):
        print(run.pipeline_name, run.error, run.stale.owners)

The documents and the transport are those of the command line. The base install is enough; only
`to_pandas` needs pandas.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from headwater.client import records, results
from headwater.client.address import Address, find_address, with_key
from headwater.client.arguments import (
    Direction,
    NodeName,
    Time,
    choice,
    iso,
    text_of_node,
    times,
)
from headwater.client.estate import Estate
from headwater.client.names import answer_id_of, resolve
from headwater.client.remote import RemoteBackend
from headwater.errors import QueryError
from headwater.schema.durations import parse_duration
from headwater.schema.urns import parse_urn

TIMEOUT_SECONDS = 60.0
RETRIES = 2
# The largest Int of GraphQL.
_SECONDS_MAX = 2**31 - 1

Change = Mapping[str, Any]


class Client(Estate):
    """Questions to one Headwater API. Threads may share it.

    The address is found as the command line finds it: `url`, `profile`, `home`, HEADWATER_URL,
    HEADWATER_PROFILE, or else the `headwater up` of this machine. A question that gets no answer is
    asked again, at most twice and within the timeout: no question changes anything.

    Every method raises UnavailableError if the API does not answer, UnauthorizedError for a missing
    or invalid key, ForbiddenError for a key without the scope, NotFoundError and AmbiguousError if
    no node or several have a name, and QueryError for a malformed argument. All are HeadwaterError
    with a `message` and a `hint`.

    Args:
        url: Address of the API, for example `https://headwater.example.com`.
        api_key: An API key; by default that of the profile or of HEADWATER_API_KEY. "" sends none.
        profile: Name of a profile in the user's configuration file.
        home: Folder in which `headwater up` runs.
        timeout_seconds: Limit of one question.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        profile: str | None = None,
        home: str | Path | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        folder = None if home is None else str(home)
        address = find_address(url, profile, folder, os.environ, prefix="")
        if api_key is not None:
            address = with_key(address, api_key)
        self._backend = _backend_at(address, timeout_seconds)

    @classmethod
    def at(cls, address: Address, *, timeout_seconds: float = TIMEOUT_SECONDS) -> Client:
        """Return a client of a known address with its key.

        Args:
            address: The address and the key.
            timeout_seconds: Limit of one question.

        Returns:
            The client.
        """
        client = cls.__new__(cls)
        client._backend = _backend_at(address, timeout_seconds)
        return client

    @property
    def url(self) -> str:
        """Return the address of the API."""
        return self._backend.address.url

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def status(self) -> results.Status:
        """Return the version and the readiness of the API, and whether the key reads.

        Returns:
            The status.
        """
        return self._convert(self._backend.status(), results.Status)

    def trace(self, answer: NodeName) -> results.Trace:
        """Trace an answer back to its sources, with every run and version on the way.

        Args:
            answer: The answer: its id, the end of it, or its urn.

        Returns:
            The trace. A notebook draws it.
        """
        answer_id = answer_id_of(self._backend, text_of_node(answer))
        return self._convert(self._backend.ask("trace", answerId=answer_id)["trace"], results.Trace)

    def lineage(
        self,
        *nodes: NodeName,
        direction: Direction = "both",
        depth: int = 10,
        level: str = "",
        as_of: Time | None = None,
        between: tuple[Time, Time] | None = None,
        namespaces: Sequence[str] = (),
        tags: Sequence[str] = (),
        owners: Sequence[str] = (),
        job_types: Sequence[str] = (),
        since: Time | None = None,
        until: Time | None = None,
        after: str | None = None,
    ) -> results.Lineage:
        """Return the lineage upstream and downstream of datasets, jobs, runs, versions or columns.

        Args:
            nodes: Names or urns of the starts.
            direction: `upstream`, `downstream` or `both`.
            depth: Number of jobs or runs to cross, 1 to 50.
            level: `column`, `run`, `dataset_and_job`, `top`, or a type of job such as `dag`.
            as_of: Show the lineage graph of this time.
            between: Show how the lineage graph of the second time differs from the first.
            namespaces: Only datasets of these namespaces; `*` matches any characters.
            tags: Only datasets with one of these tags: `key=value`, or a key.
            owners: Only datasets of these owners.
            job_types: Only jobs of these types.
            since: Only nodes and runs seen at this time or later.
            until: Only nodes and runs seen at this time or earlier.
            after: The cursor of a continuation of a truncated lineage.

        Returns:
            The lineage. A notebook draws it.
        """
        if not nodes:
            raise QueryError("lineage needs a node", hint='For example lineage("marts/delays").')
        filter = {
            "namespaces": list(namespaces),
            "tags": list(tags),
            "owners": list(owners),
            "jobTypes": list(job_types),
            "since": iso("since", since),
            "until": iso("until", until),
        }
        found = self._backend.ask(
            "lineage",
            urns=[resolve(self._backend, text_of_node(node)) for node in nodes],
            direction=choice("direction", direction, Direction),
            depth=depth,
            level=level,
            asOf=iso("as_of", as_of),
            between=times("between", between),
            filter={key: value for key, value in filter.items() if value},
            after=after,
        )
        return self._convert(found["lineage"], results.Lineage)

    def root_cause(
        self, node: NodeName, *, since: Time | None = None, first: int = 20
    ) -> results.RootCause:
        """Rank the possible causes of bad data: failures, inputs, schema, columns, code.

        Args:
            node: The bad version, dataset, answer or run.
            since: Only causes since this time, when the data was still good.
            first: Maximum number of candidates.

        Returns:
            The candidates, and what is stale.
        """
        urn = resolve(self._backend, text_of_node(node), ("DATASET", "ANSWER", "PIPELINE_RUN"))
        found = self._backend.ask("root_cause", urn=urn, since=iso("since", since), first=first)
        return self._convert(found["rootCause"], results.RootCause)

    def impact(
        self,
        node: NodeName,
        changes: Change | Sequence[Change],
        *,
        files: Mapping[str, str] | None = None,
        dialect: str = "",
        include_stale: bool = False,
    ) -> results.Impact:
        """Assess planned changes of a dataset or job.

        Args:
            node: The dataset or job that changes.
            changes: A change or several, each with `type` and its fields: `column_rename` (`from`,
                `to`), `column_drop` (`column`), `column_type_change` (`column`, `to`),
                `column_add` (`column`, `nullable`), `semantics_change` (`column`), `table_drop`,
                `table_rename` (`to`), `job_delete`.
            files: Code to include, by file name.
            dialect: SQL dialect of these files.
            include_stale: Include jobs that no longer read the dataset.

        Returns:
            The affected assets with severity and evidence.
        """
        found = self._backend.assess(
            resolve(self._backend, text_of_node(node), ("DATASET", "JOB")),
            [changes] if isinstance(changes, Mapping) else list(changes),
            files=files or {},
            dialect=dialect,
            include_stale=include_stale,
        )
        return self._convert(found, results.Impact)

    def dataset(self, name: NodeName) -> records.DatasetDetails:
        """Return a dataset with its schema, its jobs, its newest versions and its answers.

        Args:
            name: The dataset, also by an alias.

        Returns:
            The dataset.
        """
        found = self._node("dataset", name)
        for field in ("versions", "answers"):
            found[field] = found[field]["nodes"]
        return self._convert(found, records.DatasetDetails)

    def job(self, name: NodeName) -> records.JobDetails:
        """Return a job with its code, its datasets and its newest runs.

        Args:
            name: The job.

        Returns:
            The job.
        """
        found = self._node("job", name)
        found["runs"] = found["runs"]["nodes"]
        return self._convert(found, records.JobDetails)

    def run(self, name: NodeName) -> records.RunDetails:
        """Return a run with its datasets and the versions that it made.

        Args:
            name: The run: its id or urn.

        Returns:
            The run.
        """
        return self._convert(self._node("run", name), records.RunDetails)

    def answer(self, name: NodeName) -> records.AnswerDetails:
        """Return an answer with its citations.

        Args:
            name: The answer: its id, the end of it, or its urn.

        Returns:
            The answer.
        """
        return self._convert(self._node("answer", name), records.AnswerDetails)

    def resolve(self, name: NodeName) -> str:
        """Return the urn of the one node that has a name.

        Args:
            name: A urn, an id, a name, its end, or `namespace:name`.

        Returns:
            The urn; a urn is returned as it is.
        """
        return resolve(self._backend, text_of_node(name))

    def freshness(self, dataset: NodeName, within: str | timedelta = "24h") -> results.Freshness:
        """Return whether a dataset, or a source whose data went into it, is too old.

        Args:
            dataset: The dataset.
            within: Maximum age of the data: `90m`, `24h`, `7d`.

        Returns:
            The verdict with its causes.
        """
        age = within if isinstance(within, timedelta) else parse_duration(within, name="within")
        seconds = min(int(age.total_seconds()), _SECONDS_MAX)
        urn = self._urn_of_kind(dataset, "dataset")
        found = self._backend.ask("freshness", urn=urn, maxAgeSeconds=seconds)
        content = {**found["freshness"], **found["freshness"]["verdict"], **found["dataset"]}
        return self._convert({**content, "dataset": content["urn"]}, results.Freshness)

    def quality(self, dataset: NodeName, *, first: int = 1) -> results.Quality:
        """Return the newest result of each check of a dataset or version, and measurements.

        Args:
            dataset: The dataset, or a version by its urn.
            first: Maximum number of measurements.

        Returns:
            The checks, failed ones first.
        """
        urn = resolve(self._backend, text_of_node(dataset), ("DATASET",))
        return self._convert(
            self._backend.ask("quality", urn=urn, first=first)["quality"], results.Quality
        )

    def graphql(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a GraphQL query of your own. `docs/reference/graphql.md` has the schema.

        Args:
            query: The query.
            variables: Values of its variables. Times are text, such as 2026-01-31T12:00:00Z.

        Returns:
            The data of the answer, as JSON values.
        """
        return self._backend.ask_text(query, variables or {})

    def cypher(self, statement: str, parameters: Mapping[str, Any] | None = None) -> results.Table:
        """Run a Cypher statement, read-only. The key needs the scope `cypher`.

        Args:
            statement: The statement.
            parameters: Values of its parameters.

        Returns:
            The rows.
        """
        rows = self._backend.run_statement(statement, parameters or {})
        return self._convert(rows._asdict(), results.Table)

    def audit(self, name: str, parameters: Mapping[str, Any] | None = None) -> results.Table:
        """Run an audit query of the library, for example `column_origins`.

        Args:
            name: Name of the query.
            parameters: Values of its parameters.

        Returns:
            The rows.
        """
        rows = self._backend.run_audit(name, parameters or {})
        return self._convert(rows._asdict(), results.Table)

    def audits(self) -> results.Table:
        """Return the audit queries of the library with their parameters.

        Returns:
            A row for each query: name, purpose, parameters, columns.
        """
        rows = self._backend.list_audits()
        columns = ("name", "purpose", "parameters", "columns")
        return results.Table(columns, tuple({key: row.get(key) for key in columns} for row in rows))

    def _urn_of_kind(self, name: NodeName, kind: str) -> str:
        """Return the urn of a node of one kind. Raises QueryError for a urn of another."""
        wanted = "PIPELINE_RUN" if kind == "run" else kind.upper()
        urn = resolve(self._backend, text_of_node(name), (wanted,))
        found = parse_urn(urn).kind
        if found != kind:
            raise QueryError(f"{urn!r} is the urn of a {found}; {kind}() takes a {kind}")
        return urn

    def _node(self, kind: str, name: NodeName) -> dict[str, Any]:
        found: dict[str, Any] = self._backend.ask(kind, id=self._urn_of_kind(name, kind))["node"]
        return found


def _backend_at(address: Address, timeout_seconds: float) -> RemoteBackend:
    if timeout_seconds <= 0:
        raise QueryError(f"timeout_seconds {timeout_seconds:g} must be above 0")
    return RemoteBackend(address, timeout_seconds=timeout_seconds, retries=RETRIES)
