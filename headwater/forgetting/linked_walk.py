"""Walk a folder, and the folders and files that links in it name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

# Called with a path and the reason for which it could not be searched or rewritten.
OnProblem = Callable[[Path, str], object]

_SYSTEM_NAMES = "bin boot dev etc lib lib64 nix proc run sbin snap sys usr"
_SYSTEM = tuple(Path("/", name) for name in _SYSTEM_NAMES.split())
# Folders with those of many programs and people.
_WIDE_NAMES = "home media mnt opt srv tmp var var/lib var/log"
_WIDE = frozenset(Path("/", name) for name in _WIDE_NAMES.split())


def walk(
    top: Path, on_problem: OnProblem = lambda *_: None
) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield folders with the names of their folders and files, as `os.walk` does.

    Links to folders are followed, each folder once. Not followed are a link to a folder below
    `top`, which is reached without it, and one to a folder that is too wide: `on_problem` is called
    with it. The caller may remove names of folders that it does not want.
    """
    real_top = top.resolve()
    entered = {str(real_top)}
    for folder, names, files in os.walk(
        top,
        onerror=lambda error: on_problem(Path(str(error.filename)), reason_of(error)),
        followlinks=True,
    ):
        here = Path(folder)
        yield here, names, files
        names[:] = [name for name in names if _is_followed(here / name, real_top, on_problem)]
        for name in list(names):
            real = os.path.realpath(here / name)
            if real in entered:
                names.remove(name)
            entered.add(real)


def files_below(top: Path, on_problem: OnProblem = lambda *_: None) -> Iterator[Path]:
    """Yield the paths of the regular files in a folder, also those that links name."""
    for here, _, files in walk(top, on_problem):
        yield from filter(Path.is_file, map(here.joinpath, files))


def is_of_system(path: Path) -> bool:
    """Return True for a path whose files belong to the operating system."""
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def reason_of(error: OSError) -> str:
    """Return the reason of an error, without its path."""
    return error.strerror or str(error)


def _is_followed(path: Path, real_top: Path, on_problem: OnProblem) -> bool:
    if not path.is_symlink():
        return True
    target = Path(os.path.realpath(path))
    if target.is_relative_to(real_top):
        return False
    inner = (real_top, Path(os.path.expanduser("~")))
    if is_of_system(target) or target in _WIDE or any(one.is_relative_to(target) for one in inner):
        on_problem(path, f"this link leads to {target}, which is too wide to be searched")
        return False
    return True
