"""The command `findings`: detected problems, as a list, one by one, as a gate, or as they come."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from headwater.cli.namespace_notes import note_namespace
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.client.times import instant_of
from headwater.errors import QueryError, UnavailableError

WATCH_SECONDS_MIN = 1.0
# What --check returns if it finds one, as an error that has no code of its own.
FOUND_EXIT_CODE = 1
CONSEQUENCES_MAX = 50
_REMEMBERED_MAX = 10_000
_COLUMNS = ("tier", "rule", "node", "since", "resolved", "affected", "owners", "id")


class Tier(StrEnum):
    """How urgent a finding is."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


@question
def findings(
    backend: Backend,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="`show ID`: one finding with its evidence, its causes, who is affected, and the "
            "runbook.",
            metavar="[show ID]",
        ),
    ] = None,
    include_resolved: Annotated[
        bool, typer.Option("--all/--open", help="Resolved findings too, or only open ones.")
    ] = False,
    rule: Annotated[
        str | None, typer.Option(help="Only findings of this rule, for example failed-run.")
    ] = None,
    tier: Annotated[
        Tier | None, typer.Option(help="Only findings of this severity.", case_sensitive=False)
    ] = None,
    urn: Annotated[
        str | None, typer.Option(help="Only findings on this node, by name or urn.", metavar="NODE")
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Only findings on nodes of this owner.")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only findings on nodes of this namespace.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Only findings that were open at or after this time: 2h, ISO 8601."),
    ] = None,
    first: Annotated[int, typer.Option(help="Maximum number of results.")] = 50,
    after: Annotated[str | None, typer.Option(help="Continue after this cursor.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with code 1 if there is a finding, as CI needs.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Print further findings as they come, until Ctrl-C.")
    ] = False,
    interval: Annotated[
        float, typer.Option(help="With --watch: seconds between two looks.", min=WATCH_SECONDS_MIN)
    ] = 5.0,
) -> Result | Iterator[Result]:
    """List detected problems, the most urgent first: what, where, since when, and who is affected.

    For example: headwater findings --tier P1 --check"""
    if words:
        return _shown(backend, words)
    instant = instant_of("--since", since)
    variables = {
        "open": None if include_resolved else True,
        "rule": rule,
        "tier": tier,
        "urn": resolve(backend, urn) if urn else None,
        "owner": owner,
        "namespace": namespace,
        "since": instant.isoformat() if instant else None,
        "first": first,
    }
    if watch:
        return _watched(backend, variables, interval)
    found = backend.ask("findings", **variables, after=after)["findings"]
    listed = _listed(found)
    note = "" if found["edges"] else note_namespace(backend, namespace)
    exit_code = FOUND_EXIT_CODE if check and found["edges"] else 0
    return replace(listed, note=note, exit_code=exit_code)


def _listed(found: Mapping[str, Any]) -> Result:
    """Return a page of findings as a result, the most urgent first."""
    from headwater.cli import render, show_findings

    records = [{"cursor": edge["cursor"], **edge["node"]} for edge in found["edges"]]
    page, count = found["pageInfo"], found["totalCount"]
    rows = [_row(one) for one in sorted(records, key=lambda one: str(one["severity"]))]
    return Result(
        data={"findings": records, "totalCount": count, "hasNextPage": page["hasNextPage"]},
        columns=_COLUMNS,
        rows=rows,
        records=records,
        show=partial(
            show_findings.print_findings,
            columns=_COLUMNS,
            rows=[{**row, "node": render.plain_urn(row["node"])} for row in rows],
            count=count,
            end_cursor=page["endCursor"] if page["hasNextPage"] else None,
        ),
    )


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    from headwater.cli import show_findings

    return {
        "tier": one["severity"],
        "rule": one["rule"],
        "node": one["urn"],
        "since": one["firstSeen"][:19],
        "resolved": (one["resolvedAt"] or "")[:19],
        "affected": show_findings.affected_words(one["affected"]),
        "owners": one["owners"],
        "id": one["id"],
    }


def _shown(backend: Backend, words: list[str]) -> Result:
    """Return one finding with the finding that caused it, and those that it caused."""
    if len(words) != 2 or words[0] != "show":
        raise QueryError(
            f"findings takes no argument {' '.join(words)!r}",
            hint="Write `headwater findings show ID`; `headwater findings` lists the ids.",
        )
    from headwater.cli import show_findings

    found = backend.ask("finding", id=words[1], first=CONSEQUENCES_MAX)
    finding, caused = found["finding"], found["consequences"]
    others = [one for one in caused["nodes"] if one["id"] != finding["id"]]
    data = {**finding, "consequences": others}
    return Result(
        data=data,
        columns=_COLUMNS,
        rows=[_row(finding)],
        records=[data],
        show=partial(
            show_findings.print_finding,
            finding=finding,
            consequences=others,
            count=caused["totalCount"] - (len(caused["nodes"]) - len(others)),
        ),
    )


def _watched(backend: Backend, variables: dict[str, Any], interval: float) -> Iterator[Result]:
    """Yield the findings that match, and then each further one."""
    from headwater.cli import render

    # Background jobs of a shell may inherit an ignored SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    printed: dict[tuple[str, str], None] = {}
    is_first, is_reachable = True, True
    while True:
        try:
            found = backend.ask("findings", **variables, after=None)["findings"]
        except UnavailableError as error:
            # The first look must succeed; later a restart of the server ends no watch.
            if is_first:
                raise
            if is_reachable:
                render.warn(f"{error.message}; trying again")
            is_reachable = False
            time.sleep(interval)
            continue
        if not is_reachable:
            render.warn("the connection is back")
        is_first, is_reachable = False, True
        edges = [edge for edge in found["edges"] if _state(edge["node"]) not in printed]
        printed |= dict.fromkeys(_state(edge["node"]) for edge in edges)
        for state in list(printed)[:-_REMEMBERED_MAX]:
            del printed[state]
        if edges:
            page = {"hasNextPage": False, "endCursor": None}
            yield _listed({"edges": edges, "pageInfo": page, "totalCount": len(edges)})
        time.sleep(interval)


def _state(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return what makes a finding worth a line: it is new, or has become resolved."""
    return one["id"], one["resolvedAt"] or ""


COMMANDS = {"findings": findings}
