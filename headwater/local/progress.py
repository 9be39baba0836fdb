"""The progress of fetched jars on stderr: a bar on a terminal, else a line for every 50 jars.

If no jar is missing, nothing is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from headwater.local.jars import Progress

JARS_PER_LINE = 50


@contextmanager
def show_jars(server: str = "Neo4j") -> Iterator[Progress]:
    """Show the progress of fetched jars in a `with` block.

    Args:
        server: The name of the server, for the text.

    Yields:
        A function to call with the number of jars done and in all.
    """
    text = f"{server}'s jars"
    if not sys.stderr.isatty():
        yield lambda done, total: _plain(text, done, total)
        return
    # rich is in the extra `server`; an installation of the hooks alone does not need it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        tasks: list[int] = []

        def show(done: int, total: int) -> None:
            if not tasks:
                tasks.append(int(bar.add_task("jars", total=total)))
            bar.update(bar.tasks[0].id, completed=done)

        yield show


def _plain(text: str, done: int, total: int) -> None:
    if done % JARS_PER_LINE == 0 or done == total:
        print(f"{text}: {done} of {total}", file=sys.stderr, flush=True)
