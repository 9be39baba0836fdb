"""Show jars as they land: a rich bar on a terminal, a plain line every now and then anywhere else.

Promises: says nothing at all when there is nothing to fetch; writes to stderr, so that output stays clean.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from headwater.local.jars import Progress

plain_every_jars = 50


@contextmanager
def show_jars(server: str = "Neo4j") -> Iterator[Progress]:
    text = f"{server}'s jars"
    if not sys.stderr.isatty():
        yield lambda done, total: _plain(text, done, total)
        return
    # rich belongs to the server's extra; a cluster that installs only the hooks never gets here.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        tasks: list[int] = []

        def landed(done: int, total: int) -> None:
            if not tasks:
                tasks.append(int(bar.add_task("jars", total=total)))
            bar.update(bar.tasks[0].id, completed=done)

        yield landed


def _plain(text: str, done: int, total: int) -> None:
    if done % plain_every_jars == 0 or done == total:
        print(f"{text}: {done} of {total}", file=sys.stderr, flush=True)
