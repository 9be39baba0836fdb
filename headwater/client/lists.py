"""The questions whose answers are lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from headwater.client import records
from headwater.client.arguments import (
    Kind,
    NodeName,
    Status,
    Tier,
    Time,
    choice,
    iso,
    text_of_node,
)
from headwater.client.names import resolve
from headwater.client.pages import Page, Pages
from headwater.client.remote import RemoteBackend
from headwater.errors import QueryError

T = TypeVar("T", bound=msgspec.Struct)


class Lists:
    """The lists of one Headwater API, read page by page."""

    _backend: RemoteBackend

    def failed_runs(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        pipeline: str | None = None,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> Pages[records.FailedRun]:
        """Return the failed runs, newest first, each with partial data, stale data and owners.

        Args:
            since: Only failures at this time or later.
            until: Only failures before this time.
            pipeline: Only runs of the job of this name.
            namespace: Only runs of jobs in this namespace.
            limit: Maximum number of runs.

        Returns:
            The runs, read page by page.
        """
        return self._pages(
            "failed_runs",
            records.FailedRun,
            ("failed_at", "namespace", "pipeline_name", "run_id", "error", "owners", "resolved"),
            limit,
            since=iso("since", since),
            until=iso("until", until),
            pipeline=pipeline,
            namespace=namespace,
        )

    def findings(
        self,
        *,
        open: bool | None = True,
        rule: str | None = None,
        tier: Tier | None = None,
        node: NodeName | None = None,
        owner: str | None = None,
        namespace: str | None = None,
        since: Time | None = None,
        limit: int | None = None,
    ) -> Pages[records.Finding]:
        """Return detected problems, the newest evidence first.

        Args:
            open: True for open findings, False for resolved ones, None for both.
            rule: Only of this rule, for example `failed-run`.
            tier: Only of this severity: P1, P2 or P3.
            node: Only on this dataset, job or answer.
            owner: Only on nodes of this owner.
            namespace: Only on nodes of this namespace.
            since: Only those that were open at this time or later.
            limit: Maximum number of findings.

        Returns:
            The findings, read page by page.
        """
        return self._pages(
            "findings",
            records.Finding,
            ("severity", "rule", "urn", "first_seen", "resolved_at", "owners"),
            limit,
            open=open,
            rule=rule,
            tier=choice("tier", tier, Tier),
            urn=resolve(self._backend, text_of_node(node)) if node else None,
            owner=owner,
            namespace=namespace,
            since=iso("since", since),
        )

    def search(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        namespace: str = "",
        tag: str = "",
        owner: str = "",
        limit: int | None = None,
    ) -> Pages[records.Node]:
        """Find datasets, jobs and answers by words.

        Args:
            text: Words of names, descriptions, columns, tags or owners.
            kind: Only this kind.
            namespace: Only this namespace.
            tag: Only with this tag: `key=value`, or a key.
            owner: Only of this owner.
            limit: Maximum number of records.

        Returns:
            The nodes, equal names first, read page by page.
        """
        return self._pages(
            "search",
            records.Node,
            ("kind", "namespace", "name", "urn"),
            limit,
            text=text,
            kind=choice("kind", kind, Kind),
            namespace=namespace,
            tag=tag,
            owner=owner,
        )

    def runs(
        self,
        *,
        status: Status | None = None,
        since: Time | None = None,
        until: Time | None = None,
        namespace: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        limit: int | None = None,
    ) -> Pages[records.Run]:
        """Return runs, the newest start first.

        Args:
            status: Only with this status.
            since: Only started at this time or later.
            until: Only started before this time.
            namespace: Only of jobs in this namespace.
            owner: Only of jobs of this owner.
            tag: Only with this tag.
            limit: Maximum number of runs.

        Returns:
            The runs, read page by page.
        """
        return self._pages(
            "runs",
            records.Run,
            ("started_at", "status", "namespace", "pipeline_name", "run_id", "duration_seconds"),
            limit,
            status=choice("status", status, Status),
            since=iso("since", since),
            until=iso("until", until),
            namespace=namespace,
            owner=owner,
            tag=tag,
        )

    def jobs(
        self,
        *,
        status: Status | None = None,
        since: Time | None = None,
        until: Time | None = None,
        namespace: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        limit: int | None = None,
    ) -> Pages[records.Job]:
        """Return jobs by namespace and name.

        Args:
            status: Only those whose newest run has this status.
            since: Only last seen at this time or later.
            until: Only last seen before this time.
            namespace: Only in this namespace.
            owner: Only of this owner.
            tag: Only with this tag.
            limit: Maximum number of jobs.

        Returns:
            The jobs, read page by page.
        """
        return self._pages(
            "jobs",
            records.Job,
            ("namespace", "name", "type", "owners", "last_seen"),
            limit,
            status=choice("status", status, Status),
            since=iso("since", since),
            until=iso("until", until),
            namespace=namespace,
            owner=owner,
            tag=tag,
        )

    def datasets(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        namespace: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        limit: int | None = None,
    ) -> Pages[records.Dataset]:
        """Return datasets by namespace and name.

        Args:
            since: Only last seen at this time or later.
            until: Only last seen before this time.
            namespace: Only in this namespace.
            owner: Only of this owner.
            tag: Only with this tag.
            limit: Maximum number of datasets.

        Returns:
            The datasets, read page by page.
        """
        return self._pages(
            "datasets",
            records.Dataset,
            ("namespace", "name", "type", "owners", "tags", "last_seen"),
            limit,
            since=iso("since", since),
            until=iso("until", until),
            namespace=namespace,
            owner=owner,
            tag=tag,
        )

    def answers(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> Pages[records.Answer]:
        """Return answers, newest first.

        Args:
            since: Only answers of this time or later.
            until: Only answers before this time.
            namespace: Only answers that rest on data of this namespace.
            limit: Maximum number of answers.

        Returns:
            The answers, read page by page.
        """
        return self._pages(
            "answers",
            records.Answer,
            ("generated_at", "answer_id", "type", "generated_by", "owners", "content", "url"),
            limit,
            since=iso("since", since),
            until=iso("until", until),
            namespace=namespace,
        )

    def _pages(
        self,
        document: str,
        kind: type[T],
        columns: Sequence[str],
        limit: int | None,
        /,
        **fixed: Any,
    ) -> Pages[T]:
        if limit is not None and limit < 0:
            raise QueryError(f"limit {limit} must not be below 0")
        read = partial(self._read_page, document, fixed)
        given = [f"{name} {value}" for name, value in fixed.items() if value]
        title = ", ".join([document.replace("_", " "), *given])
        return Pages(kind, read, limit=limit, title=title, columns=columns)

    def _read_page(
        self, document: str, fixed: Mapping[str, Any], size: int, cursor: str | None
    ) -> Page:
        found = self._backend.ask(document, **fixed, first=size, after=cursor)
        (connection,) = found.values()
        page = connection["pageInfo"]
        return Page(
            [edge["node"] for edge in connection["edges"]],
            page["endCursor"] if page["hasNextPage"] else None,
            connection.get("totalCount"),
        )
