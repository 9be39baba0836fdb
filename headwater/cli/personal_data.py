"""The command `personal-data`: where personal data arrives, as a list, as a gate, or for auditors.

Its exit code is 0 if personal data reaches nothing unmasked, 1 if it reaches something, and 2 if
it is not known, because a job on the way sends no columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.namespace_notes import note_namespace
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend

if TYPE_CHECKING:
    from rich.console import Console

EXPOSED_EXIT_CODE, UNKNOWN_EXIT_CODE = 1, 2
_PAGE = 200
_COLUMNS = ("state", "class", "kind", "node", "steps", "jobs", "path")
_SHOWN_COLUMNS = ("state", "class", "kind", "node", "from", "jobs")


@question
def personal_data(
    backend: Backend,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Only nodes that values reach unmasked.")
    ] = False,
    models: Annotated[bool, typer.Option("--models", help="Only models.")] = False,
    answers: Annotated[bool, typer.Option("--answers", help="Only answers.")] = False,
    exports: Annotated[bool, typer.Option("--exports", help="Only exports.")] = False,
    classification: Annotated[
        str | None, typer.Option("--class", help="Only this class, for example email.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only columns and datasets of this namespace.")
    ] = None,
    suggested: Annotated[
        bool,
        typer.Option("--suggested", help="Classes that names of columns suggest count too."),
    ] = False,
) -> Result:
    """List where personal data is and where it arrives, with the path to each node.

    Exit codes: 0 nothing exposed, 1 exposed, 2 not known, since a job sends no columns. For
    example: headwater personal-data --unmasked --models"""
    kinds = [
        kind
        for kind, is_wanted in (("MODEL", models), ("ANSWER", answers), ("EXPORT", exports))
        if is_wanted
    ]
    variables = {
        "unmaskedOnly": unmasked,
        "classification": classification,
        "namespace": namespace,
        "kind": kinds or None,
        "suggested": suggested,
    }
    pages = list(_pages(backend, variables))
    nodes = list(chain.from_iterable(page["nodes"] for page in pages))
    counts = {name: pages[0][name] for name in ("totalCount", "exposedCount", "unknownCount")}
    return Result(
        data={"personalData": nodes, **counts},
        columns=_COLUMNS,
        rows=list(map(_row, nodes)),
        records=nodes,
        show=partial(_show, nodes=nodes, counts=counts),
        note="" if nodes else note_namespace(backend, namespace),
        exit_code=_exit_code(counts),
    )


def _pages(backend: Backend, variables: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield every page of the list: an auditor needs all entries."""
    after = None
    while True:
        page = backend.ask("personal_data", **variables, first=_PAGE, after=after)["personalData"]
        yield page
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


def _exit_code(counts: Mapping[str, int]) -> int:
    if counts["exposedCount"]:
        return EXPOSED_EXIT_CODE
    return UNKNOWN_EXIT_CODE if counts["unknownCount"] else 0


def _row(node: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "state": node["state"],
        "class": node["classification"],
        "kind": node["kind"],
        "node": node["urn"],
        "steps": len(node["steps"]),
        "jobs": [step["job"] or "" for step in node["steps"] if step["job"]],
        "path": node["path"],
    }


def _show(out: Console, *, nodes: list[Mapping[str, Any]], counts: Mapping[str, int]) -> None:
    from headwater.cli.render import print_table, with_noun

    if nodes:
        print_table(out, _SHOWN_COLUMNS, list(map(_shown_row, nodes)))
    exposed = with_noun(counts["exposedCount"], "artifact")
    out.print(f"{exposed} exposed, {counts['unknownCount']} unknown")


def _shown_row(node: Mapping[str, Any]) -> dict[str, Any]:
    from headwater.cli.render import plain_urn

    row = _row(node)
    return {
        **row,
        "node": plain_urn(node["urn"]),
        "from": plain_urn(node["path"][0]) if node["steps"] else "",
        "jobs": list(map(plain_urn, row["jobs"])),
    }


COMMANDS = {"personal-data": personal_data}
