"""Render answers for people: rich trees and tables, from the JSON that programs get.

Nothing here cuts or wraps a urn. A line that is wider than the terminal is left to the terminal,
so that a copied urn is whole. Piped output is not wrapped at all.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain, zip_longest
from textwrap import wrap
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape as escape_markup
from rich.text import Text
from rich.tree import Tree

from headwater.cells import json_value, one_line, text_of, without_controls
from headwater.errors import QueryError
from headwater.schema.urns import parse_urn

# Wider than any line, so that rich neither wraps nor cuts one.
_WIDTH = 1_000_000
_PROSE_WIDTH_MIN = 24
_PROSE_WIDTH_MAX = 100
_STATUS_STYLES = {"COMPLETE": "green", "FAIL": "bold red", "ABORT": "red", "RUNNING": "yellow"}
_SECOND = len("2026-01-31T12:00:00")

Data = dict[str, Any]


def console() -> Console:
    """Return the console of standard output, without a limit on its lines."""
    return Console(highlight=False, width=_WIDTH, soft_wrap=True)


def captured_console() -> tuple[Console, io.StringIO]:
    """Return a console without colours, and what it prints."""
    stream = io.StringIO()
    return Console(file=stream, highlight=False, width=_WIDTH, soft_wrap=True), stream


def escape(text: object) -> str:
    """Return a text of events on one line, safe for rich and for a terminal."""
    return escape_markup(one_line(str(text)))


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=2, default=json_value, ensure_ascii=False))


def print_rows(
    columns: Sequence[str], found: Sequence[Mapping[str, Any]], *, as_json: bool
) -> None:
    """Print rows as a table or as a JSON array of objects."""
    if as_json:
        print_json([dict(row) for row in found])
        return
    out = console()
    print_table(out, columns, found)
    out.print(f"[dim]{with_noun(len(found), 'row')}[/]")


def print_table(
    out: Console,
    columns: Sequence[str],
    found: Sequence[Mapping[str, Any]],
    *,
    prose: Collection[str] = (),
) -> None:
    """Print rows as a table. On a terminal the columns of prose are folded to its width."""
    texts = [[without_controls(text_of(row.get(column))) for column in columns] for row in found]
    fold = _prose_width(out, columns, texts, prose)
    folds = [fold if column in prose else None for column in columns]
    rows = [_cells(row, folds) for row in ([*columns], *texts)]
    widths = [_width(row[index] for row in rows) for index in range(len(columns))]
    for number, row in enumerate(rows):
        for cells in zip_longest(*row, fillvalue=""):
            line = "  ".join(
                set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=True)
            ).rstrip()
            out.print(Text(line, "bold" if number == 0 else ""))


def _cells(texts: Sequence[str], folds: Sequence[int | None]) -> list[list[str]]:
    """Return the cells of a row, each as its lines."""
    return [_cell_lines(text, width) for text, width in zip(texts, folds, strict=True)]


def _width(cells: Iterable[Sequence[str]]) -> int:
    """Return the width of the widest line of a column."""
    return max(map(cell_len, chain.from_iterable(cells)), default=0)


def _cell_lines(text: str, width: int | None) -> list[str]:
    """Return the lines of a cell; a width folds them between words."""
    lines = text.splitlines() or [""]
    if width is None:
        return lines
    folded: list[str] = []
    for line in lines:
        folded += wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
    return folded


def _prose_width(
    out: Console,
    columns: Sequence[str],
    texts: Sequence[Sequence[str]],
    prose: Collection[str],
) -> int | None:
    """Return the width of a column of prose; None without a terminal to fit."""
    if not out.is_terminal or not prose:
        return None
    named = [index for index, column in enumerate(columns) if column not in prose]
    taken = sum(
        2 + max(map(cell_len, (columns[index], *(row[index] for row in texts)))) for index in named
    )
    room = shutil.get_terminal_size().columns - taken
    return max(_PROSE_WIDTH_MIN, min(_PROSE_WIDTH_MAX, room // len(prose)))


def print_more(out: Console, end_cursor: str | None, count: int | None = None) -> None:
    """Print that more pages follow, and the option to read them."""
    total = "" if count is None else f"of {count:,} in all; "
    out.print(f"[dim]{total}continue with --after {end_cursor}[/]")


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


def second_of(instant: str | None) -> str:
    """Return an instant without its fraction of a second."""
    return (instant or "")[:_SECOND]


def plain_urn(urn: str) -> str:
    """Return the parts of a urn without its kind and its encoding."""
    try:
        parts = parse_urn(urn).parts
    except QueryError:
        return urn
    return "  ".join(parts) if parts else urn


def print_difference(out: Console, found: Data) -> None:
    """Print added nodes and edges with a plus, removed ones with a minus: nodes, then edges."""
    signs = (("+", "green", "added"), ("-", "red", "removed"))
    for sign, style, word in signs:
        for node in found[f"{word}Nodes"]:
            out.print(f"[{style}]{sign}[/] [dim]{node['kind'].lower()}[/] {escape(node['name'])}")
    for sign, style, word in signs:
        for edge in found[f"{word}Edges"]:
            out.print(
                f"[{style}]{sign}[/] {escape(edge['source'])} [dim]{edge['type']}[/] "
                f"{escape(edge['target'])}"
            )
    added = len(found["addedNodes"]) + len(found["addedEdges"])
    removed = len(found["removedNodes"]) + len(found["removedEdges"])
    out.print(f"[dim]{added} added, {removed} removed[/]")


def print_trace(out: Console, found: Data) -> None:
    """Print the answer with its inputs below it; a node that was printed before is only named
    again.
    """
    nodes: dict[str, Data] = {}
    for kind in ("artifacts", "runs", "sources", "answers", "columns"):
        nodes |= {row["urn"]: row for row in found[kind]}
    upstream: dict[str, list[str]] = defaultdict(list)
    for edge in found["edges"]:
        if edge["type"] in {"FEEDS", "PRODUCED", "CITED_BY"}:
            upstream[edge["target"]].append(edge["source"])
    answer = found["answer"]
    title = f"[bold cyan]answer[/] [bold]{escape(answer['answerId'])}[/]"
    tree = Tree(f"{title}  {escape(answer.get('content') or '')}")
    _grow(
        tree,
        answer["urn"],
        upstream,
        lambda urn: _label(urn, nodes.get(urn, {})),
        repeat_leaves=True,
    )
    out.print(tree)
    out.print(f"[bold]{with_noun(len(found['sources']), 'source')}[/]")
    for row in found["sources"]:
        out.print(f"  [green]{escape(row['namespace'])}[/] {escape(row['name'])}")
    print_stale(out, found["stale"])
    print_truncated(out, found)


def print_stale(out: Console, stale: Sequence[Data]) -> None:
    """Print what is out of date, where to look, and whom to tell."""
    for one in stale:
        look = one["failedRun"] or one["newerVersion"]
        tell = f"; tell [bold]{escape(', '.join(one['owners']))}[/]" if one["owners"] else ""
        out.print(f"[yellow]stale[/] {second_of(one['at'])}  {escape(one['reason'])}{tell}")
        out.print(f"  [dim]{escape(look or one['dataset'])}[/]")


def _grow(
    tree: Tree,
    root: str,
    onward: Mapping[str, list[str]],
    label: Callable[[str], str],
    *,
    repeat_leaves: bool,
) -> None:
    """Add everything onward of a node, below the node before it; a repeated node is only named.

    A version whose content another version kept stands beside that one: a table that is appended
    to has thousands of them. With `repeat_leaves`, a node with nothing onward is no repetition.
    """
    shown = set() if repeat_leaves else {root}
    stack = [(tree, tree, root, iter(sorted(onward.get(root, ()))))]
    while stack:
        above, branch, urn, others = stack[-1]
        other = next(others, None)
        if other is None:
            stack.pop()
            continue
        is_kept = urn.startswith("artifact:") and other.startswith("artifact:")
        parent = above if is_kept else branch
        text = f"{label(other)} [dim](kept)[/]" if is_kept else label(other)
        if other in shown and not (repeat_leaves and not onward.get(other)):
            parent.add(f"{text} [dim](above)[/]")
            continue
        shown.add(other)
        added = parent.add(text)
        stack.append((parent, added, other, iter(sorted(onward.get(other, ())))))


def _label(urn: str, row: Data) -> str:
    kind = urn.partition(":")[0]
    name = escape(row.get("pipelineName") or row.get("answerId") or row.get("name") or urn)
    if kind == "run":
        status = str(row.get("status") or "RUNNING")
        style = _STATUS_STYLES.get(status, "yellow")
        return (
            f"[blue]run[/] {name}  [{style}]{status}[/]  "
            f"[dim]{escape(row.get('runId'))}  {second_of(row.get('startedAt'))}[/]"
        )
    size = (
        f"  [dim]{with_noun(row['rowCount'], 'row')}[/]"
        if isinstance(row.get("rowCount"), int)
        else ""
    )
    colour = "green" if kind == "source" else "magenta"
    return f"[{colour}]{kind}[/] {name}{size}"


def print_lineage(out: Console, found: Data) -> None:
    """Print upstream and downstream of every start, each as a tree."""
    names = {
        node["urn"]: f"[dim]{node['kind'].lower()}[/] {escape(node['name'])}"
        for node in found["nodes"]
    }
    for title, near, far in (("upstream", "target", "source"), ("downstream", "source", "target")):
        onward: dict[str, list[str]] = defaultdict(list)
        for edge in found["edges"]:
            if edge["type"] != "DERIVED_FROM":
                onward[edge[near]].append(edge[far])
        for urn in found["starts"]:
            if urn in onward:
                tree = Tree(f"[bold]{title}[/] of {names.get(urn, escape(urn))}")
                _grow(
                    tree,
                    urn,
                    onward,
                    lambda other: names.get(other, escape(other)),
                    repeat_leaves=False,
                )
                out.print(tree)
    nodes, edges = len(found["nodes"]), len(found["edges"])
    out.print(f"[dim]{with_noun(nodes, 'node')}, {with_noun(edges, 'edge')}[/]")
    print_truncated(out, found)


def print_truncated(out: Console, found: Mapping[str, Any]) -> None:
    """Print that an answer is not complete, if it is not."""
    if found.get("truncated"):
        out.print(
            "[yellow]Truncated: the traversal reached its bound on depth, nodes, edges or time.[/]"
        )


def print_line(out: Console, before: str, name: str, after: str) -> None:
    """Print a name between our own words; `before` may hold styles."""
    out.print(f"{before} {escape(name)}  [dim]{escape(after)}[/]")


def warn(text: str) -> None:
    """Print a line to standard error."""
    print(f"headwater: {text}", file=sys.stderr)


def cursors(connection: Data) -> Iterable[tuple[str, Data]]:
    """Return the cursor and the node of each edge of a connection."""
    return [(edge["cursor"], edge["node"]) for edge in connection["edges"]]


def stale_data(found: Data) -> list[Data]:
    """Return what is out of date with urns in place of nodes."""
    names = ("dataset", "usedVersion", "newerVersion", "failedRun")
    return [
        {**one, **{name: one[name] and one[name]["urn"] for name in names}}
        for one in found["stale"]
    ]


def urns(nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the urns of nodes."""
    return [node["urn"] for node in nodes]
