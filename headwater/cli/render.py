"""Render answers: rich trees and tables for people, JSON for programs, from the same data."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from headwater.schema.urns import parse_urn

if TYPE_CHECKING:
    # These modules load Neo4j's driver; a command that only counts need not wait for it.
    from headwater.lineage.hidden_nodes import Edge
    from headwater.lineage.node_names import NodeName
    from headwater.lineage.pagination import Page
    from headwater.lineage.questions.lineage import Difference, Lineage, Trace

# Piped output has no screen width to be cut to.
_PLAIN_WIDTH = 240
_STATUS_STYLES = {"COMPLETE": "green", "FAIL": "bold red", "ABORT": "red", "RUNNING": "yellow"}

Data = dict[str, Any]


def console() -> Console:
    found = Console(highlight=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found = Console(highlight=False, width=_PLAIN_WIDTH)
    return found


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=2, default=_json_value, ensure_ascii=False))


def _json_value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)


def print_rows(
    columns: Sequence[str], found: Sequence[Mapping[str, Any]], *, as_json: bool
) -> None:
    """Print rows as a table or as a JSON array of objects."""
    if as_json:
        print_json([dict(row) for row in found])
        return
    print_table(columns, found)
    console().print(f"[dim]{with_noun(len(found), 'row')}[/]")


def print_table(columns: Sequence[str], found: Sequence[Mapping[str, Any]]) -> None:
    shown = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in found:
        shown.add_row(*(escape(text_of(row.get(column))) for column in columns))
    console().print(shown)


def data_of(value: Any) -> Any:
    """Convert a dataclass to JSON values, with GraphQL's names."""
    if is_dataclass(value):
        return {_camel(one.name): data_of(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list | tuple):
        return [data_of(one) for one in value]
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def print_more(page: Page[Any], count: int) -> None:
    """Print that more pages follow, and the option to read them."""
    if page.has_next:
        console().print(f"[dim]of {count:,} in all; continue with --after {page.cursors[-1]}[/]")


def with_noun(number: int, word: str, several: str = "") -> str:
    """Return a number with its noun: 1 row, 2 rows; `several` gives an irregular plural."""
    return f"{number:,} {word if number == 1 else several or f'{word}s'}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def bytes_of(count: int | None) -> str:
    """Return a size for people: 1.4 GB."""
    if count is None:
        return ""
    size, units = float(count), ["B", "kB", "MB", "GB", "TB", "PB"]
    while size >= 1_000 and len(units) > 1:
        size, units = size / 1_000, units[1:]
    return f"{size:.0f} B" if units[0] == "B" else f"{size:.1f} {units[0]}"


def age_of(length: timedelta) -> str:
    """Return a duration for people: 3d 4h, 12m."""
    minutes = int(length.total_seconds() // 60)
    days, hours, left = minutes // 1_440, minutes % 1_440 // 60, minutes % 60
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {left}m" if hours else f"{left}m"


def text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return str(_json_value(value))
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, default=_json_value, ensure_ascii=False)
    )


def _edges(edges: Iterable[Edge]) -> list[Data]:
    return [{"source": edge.source, "target": edge.target, "type": edge.type} for edge in edges]


def trace_data(found: Trace) -> Data:
    return {
        "answer": found.answer,
        "sources": found.sources,
        "artifacts": found.artifacts,
        "runs": found.runs,
        "answers": found.answers,
        "columns": found.columns,
        "edges": _edges(found.edges),
        "truncated": found.truncated,
    }


def lineage_data(found: Lineage) -> Data:
    data: Data = {
        "nodes": [{**_node(node), "distance": found.distances[node.urn]} for node in found.nodes],
        "edges": _edges(found.edges),
        "truncated": found.truncated,
        "omittedCount": found.omitted_count,
        "continuations": [
            {"urn": one.urn, "cursor": one.cursor, "omittedCount": one.omitted_count}
            for one in found.continuations
        ],
    }
    if found.difference:
        data["difference"] = {
            "addedNodes": [_node(node) for node in found.difference.added_nodes],
            "removedNodes": [_node(node) for node in found.difference.removed_nodes],
            "addedEdges": _edges(found.difference.added_edges),
            "removedEdges": _edges(found.difference.removed_edges),
        }
    return data


def _node(node: NodeName) -> Data:
    return {"urn": node.urn, "kind": node.kind, "namespace": node.namespace, "name": node.name}


def print_difference(found: Difference) -> None:
    """Print added nodes and edges with a plus, removed ones with a minus: nodes, then edges."""
    out = console()
    for sign, style, nodes in (
        ("+", "green", found.added_nodes),
        ("-", "red", found.removed_nodes),
    ):
        for node in nodes:
            out.print(f"[{style}]{sign}[/] [dim]{node.kind.lower()}[/] {escape(node.name)}")
    for sign, style, edges in (
        ("+", "green", found.added_edges),
        ("-", "red", found.removed_edges),
    ):
        for edge in edges:
            out.print(
                f"[{style}]{sign}[/] {escape(edge.source)} [dim]{edge.type}[/] "
                f"{escape(edge.target)}"
            )
    added = len(found.added_nodes) + len(found.added_edges)
    out.print(
        f"[dim]{added} added, {len(found.removed_nodes) + len(found.removed_edges)} removed[/]"
    )


def print_trace(found: Trace) -> None:
    """Print the answer with its inputs below it; a node that was printed before is only named
    again.
    """
    nodes: dict[str, Data] = {}
    for kind in ("artifacts", "runs", "sources", "answers", "columns"):
        nodes |= {row["urn"]: row for row in getattr(found, kind)}
    upstream: dict[str, list[str]] = defaultdict(list)
    for edge in found.edges:
        if edge.type in {"FEEDS", "PRODUCED", "CITED_BY"}:
            upstream[edge.target].append(edge.source)
    answer = found.answer
    title = f"[bold cyan]answer[/] [bold]{escape(answer['answerId'])}[/]"
    tree = Tree(f"{title}  {escape(str(answer.get('content') or ''))}")
    _add_upstream(tree, answer["urn"], upstream, nodes, set())
    out = console()
    out.print(tree)
    out.print(f"[bold]{with_noun(len(found.sources), 'source')}[/]")
    for row in found.sources:
        out.print(f"  [green]{escape(row['namespace'])}[/] {escape(row['name'])}")
    print_truncated(out, found.truncated)


def _add_upstream(
    branch: Tree,
    urn: str,
    upstream: Mapping[str, list[str]],
    nodes: Mapping[str, Data],
    shown: set[str],
) -> None:
    for source in sorted(upstream.get(urn, [])):
        label = _label(source, nodes.get(source, {}))
        if source in shown and upstream.get(source):
            branch.add(f"{label} [dim](above)[/]")
            continue
        shown.add(source)
        _add_upstream(branch.add(label), source, upstream, nodes, shown)


def _label(urn: str, row: Data) -> str:
    kind = parse_urn(urn).kind
    name = escape(str(row.get("pipelineName") or row.get("answerId") or row.get("name") or urn))
    if kind == "run":
        status = str(row.get("status") or "RUNNING")
        style = _STATUS_STYLES.get(status, "yellow")
        when = text_of(row.get("startedAt"))[:19]
        return (
            f"[blue]run[/] {name}  [{style}]{status}[/]  "
            f"[dim]{escape(str(row.get('runId')))}  {when}[/]"
        )
    size = (
        f"  [dim]{with_noun(row['rowCount'], 'row')}[/]"
        if isinstance(row.get("rowCount"), int)
        else ""
    )
    colour = "green" if kind == "source" else "magenta"
    return f"[{colour}]{kind}[/] {name}{size}"


def print_lineage(found: Lineage) -> None:
    """Print upstream and downstream of every start, each as a tree."""
    names = {node.urn: f"[dim]{node.kind.lower()}[/] {escape(node.name)}" for node in found.nodes}
    out = console()
    for title, near, far in (("upstream", "target", "source"), ("downstream", "source", "target")):
        onward: dict[str, list[str]] = defaultdict(list)
        for edge in found.edges:
            if edge.type != "DERIVED_FROM":
                onward[getattr(edge, near)].append(getattr(edge, far))
        for urn in found.starts:
            if urn in onward:
                tree = Tree(f"[bold]{title}[/] of {names.get(urn, escape(urn))}")
                _add_neighbours(tree, urn, onward, names, {urn})
                out.print(tree)
    out.print(
        f"[dim]{with_noun(len(found.nodes), 'node')}, {with_noun(len(found.edges), 'edge')}[/]"
    )
    print_truncated(out, found.truncated)


def _add_neighbours(
    branch: Tree,
    urn: str,
    onward: Mapping[str, list[str]],
    names: Mapping[str, str],
    shown: set[str],
) -> None:
    for other in sorted(onward.get(urn, [])):
        if other in shown:
            branch.add(f"{names.get(other, escape(other))} [dim](above)[/]")
            continue
        shown.add(other)
        _add_neighbours(branch.add(names.get(other, escape(other))), other, onward, names, shown)


def print_truncated(out: Console, truncated: bool) -> None:
    if truncated:
        out.print(
            "[yellow]Truncated: the traversal reached its bound on depth, nodes, edges or time.[/]"
        )
