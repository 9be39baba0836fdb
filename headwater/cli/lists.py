"""Commands that list everything of one kind: `runs`, `jobs`, `datasets`, `columns`, `answers`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.namespace_notes import note_namespace
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.times import instant_of

if TYPE_CHECKING:
    from rich.console import Console

Since = Annotated[
    str | None, typer.Option(help="Only at this time or later: 2h, yesterday, ISO 8601.")
]
Until = Annotated[str | None, typer.Option(help="Only before this time: 2h, yesterday, ISO 8601.")]
Namespace = Annotated[str | None, typer.Option(help="Only this namespace.")]
Owner = Annotated[str | None, typer.Option(help="Only of this owner.")]
Tag = Annotated[str | None, typer.Option(help="Only with this tag: key=value, or key.")]
First = Annotated[int, typer.Option(help="Maximum number of results.", min=1)]
After = Annotated[str | None, typer.Option(help="Continue after this cursor.")]


class Status(StrEnum):
    """The statuses of a run."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAIL = "fail"
    ABORT = "abort"
    ABANDONED = "abandoned"


Wanted = Annotated[
    Status | None,
    typer.Option(
        help="Only with this status; of a job, that of its newest run.", case_sensitive=False
    ),
]


@question
def runs(
    backend: Backend,
    status: Wanted = None,
    since: Since = None,
    until: Until = None,
    namespace: Namespace = None,
    owner: Owner = None,
    tag: Tag = None,
    first: First = 20,
    after: After = None,
) -> Result:
    """List runs, the newest start first.

    For example: headwater runs --status fail --since yesterday"""
    return _listed(
        backend,
        "runs",
        ("startedAt", "status", "namespace", "pipelineName", "runId", "durationSeconds", "urn"),
        status=_name(status),
        since=_iso("--since", since),
        until=_iso("--until", until),
        namespace=namespace,
        owner=owner,
        tag=tag,
        first=first,
        after=after,
    )


@question
def jobs(
    backend: Backend,
    status: Wanted = None,
    since: Since = None,
    until: Until = None,
    namespace: Namespace = None,
    owner: Owner = None,
    tag: Tag = None,
    first: First = 20,
    after: After = None,
) -> Result:
    """List jobs by namespace and name.

    For example: headwater jobs --owner team:insight --format csv"""
    return _listed(
        backend,
        "jobs",
        ("namespace", "name", "type", "owners", "lastSeen", "urn"),
        status=_name(status),
        since=_iso("--since", since),
        until=_iso("--until", until),
        namespace=namespace,
        owner=owner,
        tag=tag,
        first=first,
        after=after,
    )


@question
def datasets(
    backend: Backend,
    since: Since = None,
    until: Until = None,
    namespace: Namespace = None,
    owner: Owner = None,
    tag: Tag = None,
    first: First = 20,
    after: After = None,
) -> Result:
    """List datasets by namespace and name.

    For example: headwater datasets --namespace warehouse --tag pii"""
    return _listed(
        backend,
        "datasets",
        ("namespace", "name", "type", "owners", "tags", "lastSeen", "urn"),
        since=_iso("--since", since),
        until=_iso("--until", until),
        namespace=namespace,
        owner=owner,
        tag=tag,
        first=first,
        after=after,
    )


@question
def columns(
    backend: Backend,
    tag: Annotated[str, typer.Option(help="The tag: key=value, or a key with any value.")],
    namespace: Namespace = None,
    first: First = 20,
    after: After = None,
) -> Result:
    """List the columns with a tag, by dataset.

    For example: headwater columns --tag pii --format csv"""
    return _listed(
        backend,
        "columns",
        ("namespace", "dataset", "name", "type", "tags", "current", "urn"),
        tag=tag,
        namespace=namespace,
        first=first,
        after=after,
    )


@question
def answers(
    backend: Backend,
    since: Since = None,
    until: Until = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only answers that rest on data of this namespace.")
    ] = None,
    first: First = 20,
    after: After = None,
) -> Result:
    """List answers, newest first.

    For example: headwater answers --since 7d"""
    return _listed(
        backend,
        "answers",
        ("generatedAt", "answerId", "type", "generatedBy", "owners", "content", "url", "urn"),
        since=_iso("--since", since),
        until=_iso("--until", until),
        namespace=namespace,
        first=first,
        after=after,
    )


def _listed(backend: Backend, name: str, columns: Sequence[str], **variables: Any) -> Result:
    """Return a page of a list: the document has its name, and so has its field."""
    from headwater.cli import render

    found = backend.ask(name, **variables)[name]
    rows = [{"cursor": cursor, **node} for cursor, node in render.cursors(found)]
    page, count = found["pageInfo"], found["totalCount"]

    def show(out: Console) -> None:
        render.print_table(out, columns, rows, prose={"content"})
        out.print(f"[dim]{render.with_noun(len(rows), name.removesuffix('s'))}[/]")
        if page["hasNextPage"]:
            render.print_more(out, page["endCursor"], count)

    data = {name: rows, "totalCount": count, "hasNextPage": page["hasNextPage"]}
    note = "" if rows else note_namespace(backend, variables.get("namespace"))
    return Result(data, columns, rows, show=show, note=note, prose=frozenset({"content"}))


def _name(status: Status | None) -> str | None:
    return status.upper() if status else None


def _iso(option: str, text: str | None) -> str | None:
    instant = instant_of(option, text)
    return instant.isoformat() if instant else None


COMMANDS = {
    "runs": runs,
    "jobs": jobs,
    "datasets": datasets,
    "columns": columns,
    "answers": answers,
}
