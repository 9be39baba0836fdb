"""The files that git tracks and the functions in them, for the tests of the repository."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Files of others, kept as published.
VENDOR = "headwater/ui/static/vendor/"


class Function(NamedTuple):
    """A function and its place; `lines` counts from `def` to the end."""

    where: str
    lines: int
    node: ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tracked() -> tuple[str, ...]:
    """Return every file of the repository that is our own, new files included."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return tuple(
        sorted(
            name
            for name in set(listed.split("\0"))
            if (ROOT / name).is_file() and VENDOR not in name
        )
    )


def python_files(folder: str = "") -> list[str]:
    return [name for name in tracked() if name.endswith(".py") and name.startswith(folder)]


@cache
def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(text(name), name)


def functions(name: str) -> Iterator[Function]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(
                f"{name}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1, node
            )
