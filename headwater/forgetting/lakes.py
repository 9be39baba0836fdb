"""The lakes of a spool: which ones a value is forgotten in, and what is checked before.

A lake below the home is recognised by its manifests and files. So no lake is taken for other files
of the home, which are removed if they cannot be rewritten: it may have the only copy of its events.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from headwater.addresses import shown
from headwater.errors import QueryError
from headwater.forgetting.events import OnProgress, rewrite_lake
from headwater.forgetting.linked_walk import OnProblem, files_below, walk
from headwater.ingest.receive.forgotten import Forgotten
from headwater.ingest.spool.copy import SpoolPosition
from headwater.pipelines.lake_folders import find_lakes, lake_folders, local_folder

_WITHOUT = "add --without-lake to leave it out."


@dataclass(frozen=True)
class Lakes:
    """The lakes of a spool.

    rewritten: those in which the value is forgotten; inner: those below the home; left_out: others
    that are left out.
    """

    rewritten: tuple[Path, ...]
    inner: tuple[Path, ...]
    left_out: tuple[Path, ...]

    def folders(self) -> list[Path]:
        """Return the folders of manifests and events, which no other code may change."""
        roots = (*self.rewritten, *self.inner, *self.left_out)
        return list(chain.from_iterable(map(lake_folders, roots)))

    def other_files(self, spool: str, on_problem: OnProblem) -> Iterator[tuple[Path, str]]:
        """Yield the files in the rewritten lakes that are not those of a spool's archive.

        The second item is the name of the file below its lake.
        """
        if not self.rewritten:
            return
        from headwater.pipelines.lake import Lake

        for root in self.rewritten:
            own = Lake(str(root)).own_files(spool)
            folders = lake_folders(root)
            for path in chain.from_iterable(files_below(one, on_problem) for one in folders):
                name = path.relative_to(root).as_posix()
                if name not in own:
                    yield path, name


def lakes_of(
    home: Path, position: SpoolPosition, named: tuple[str, ...], *, without_lake: bool
) -> Lakes:
    """Return the lakes of a spool: the named ones, that of cut events, and those below the home.

    Raises QueryError for a lake that is in another store, that lacks events of the spool, or whose
    manifests cannot be read.
    """
    inner = tuple(_distinct(find_lakes(home, walk(home))))
    recorded = [position.lake] if position.cut else []
    cut = [] if without_lake else recorded
    roots = [*_local_folders([*named, *cut]), *(() if without_lake else inner)]
    rewritten = tuple(_distinct(roots))
    if rewritten:
        _check(rewritten, named, cut, position)
    left_out = [folder for root in recorded if (folder := local_folder(root)) is not None]
    return Lakes(rewritten, inner, tuple(left_out))


def rewrite_lakes(
    spool: Path,
    lakes: Lakes,
    position: SpoolPosition,
    forgotten: Forgotten,
    on_progress: OnProgress,
    on_problem: OnProblem,
    *,
    dry_run: bool,
) -> Counter[str]:
    """Rewrite the events of a spool in its lakes; return the numbers of events and files.

    Raises SpoolFullError if another process archives the spool.
    """
    found: Counter[str] = Counter()
    if not lakes.rewritten:
        return found
    from headwater.pipelines.archive import exclusive

    with nullcontext() if dry_run else exclusive(spool):
        for root in lakes.rewritten:
            found += rewrite_lake(
                root, position, forgotten, on_progress, on_problem, dry_run=dry_run
            )
    return found


def _local_folders(roots: list[str]) -> Iterator[Path]:
    for root in roots:
        folder = local_folder(root)
        if folder is None:
            raise QueryError(
                f"the lake {shown(root)} is in another store, and cannot be rewritten there",
                hint=f"Rewrite it by other means, and {_WITHOUT}",
            )
        yield folder


def _check(
    rewritten: tuple[Path, ...], named: tuple[str, ...], cut: list[str], position: SpoolPosition
) -> None:
    """Raise QueryError if lakes lack events that they should have, or cannot be read."""
    if find_spec("pyarrow") is None:
        raise QueryError(
            f"the lake {rewritten[0]} cannot be read", hint="pip install 'headwater[pipelines]'"
        )
    from headwater.pipelines.lake import Lake

    for root in named:
        lake = Lake(root)
        if position.id not in lake.spools() and not lake.leftovers(position.id):
            raise QueryError(
                f"the lake {root} has no events of the spool {position.id}",
                hint="Mount it, or name its folder with --lake.",
            )
    for root in cut:
        if Lake(root).archived(position.id) < position.cut:
            raise QueryError(
                f"events 1 to {position.cut}, which are in the lake {root} only, are not all there",
                hint=f"Mount or restore the lake, or {_WITHOUT}",
            )
    for folder in rewritten:
        Lake(str(folder)).ranges(position.id)


def _distinct(roots: Iterator[Path] | list[Path]) -> list[Path]:
    """Return one path for each folder, in order."""
    return list({os.path.realpath(root): root for root in sorted(roots)}.values())
