"""Code files beneath one folder, by the path that a registered asset gives.

Anybody who may register an asset chooses the path. So it must be relative, and no part of it may be
`..`, hidden, or a symbolic link. Only code is read (.sql, .py, .ipynb), of bounded size, from
regular files. The outputs of notebooks are left out, because they hold data. Code is never run.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from headwater.code_analysis.model import UnreadableError

NOTEBOOK_LANGUAGE = "jupyter"
LANGUAGES = {".sql": "sql", ".py": "python", ".ipynb": NOTEBOOK_LANGUAGE}
# A notebook has outputs beside its code; other files are code alone.
FILE_BYTES_MAX = 4 * 2**20
# The graph keeps a facet whole up to 32 kB.
CODE_BYTES_MAX = 30_000
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a named pipe would wait for its writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class RepositoryCode:
    """The code of a file, and its language as in the `sourceCode` facet."""

    path: str
    language: str
    text: str


def is_code_path(reference: str) -> bool:
    """Return True if a reference is the path of a code file, not an address or a name."""
    return "://" not in reference and PurePosixPath(reference).suffix.lower() in LANGUAGES


def read_code(root: Path, reference: str) -> RepositoryCode:
    """Return the code of a file beneath `root`.

    Raises UnreadableError with the reason; it discloses nothing outside of the root."""
    if not is_code_path(reference):
        raise UnreadableError(f"it is no path of a code file: {', '.join(LANGUAGES)}")
    content = _read_bytes(root, _parts(reference))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError("the file is no text in UTF-8") from error
    if "\0" in text:
        raise UnreadableError("the file is binary")
    language = LANGUAGES[PurePosixPath(reference).suffix.lower()]
    if language == NOTEBOOK_LANGUAGE:
        text = _without_outputs(text)
    if len(json.dumps(text)) > CODE_BYTES_MAX:
        raise UnreadableError(f"the code is larger than {CODE_BYTES_MAX} bytes")
    if not text.strip():
        raise UnreadableError("the file is empty")
    return RepositoryCode(reference, language, text)


def _parts(reference: str) -> list[str]:
    """Return the folders and the file of a path. Raises UnreadableError for an unsafe one."""
    if reference.startswith("/") or "\\" in reference or "\0" in reference:
        raise UnreadableError("the path must be relative to the root, with forward slashes")
    parts = reference.split("/")
    for part in parts:
        if part in {"", ".", ".."}:
            raise UnreadableError("the path must not have empty parts, `.` or `..`")
        if part.startswith("."):
            raise UnreadableError("hidden files are not read")
    return parts


def _read_bytes(root: Path, parts: list[str]) -> bytes:
    """Open each part beneath the one before, so that no link leads out of the root."""
    opened: list[int] = []
    try:
        opened.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for folder in parts[:-1]:
            opened.append(os.open(folder, _FOLDER_FLAGS, dir_fd=opened[-1]))
        opened.append(os.open(parts[-1], _FILE_FLAGS, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            raise UnreadableError("it is no regular file")
        with os.fdopen(opened.pop(), "rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise UnreadableError("there is no such file, or a part of its path is a link") from error
    except ValueError as error:
        raise UnreadableError("the path is malformed") from error
    finally:
        for descriptor in reversed(opened):
            os.close(descriptor)
    if len(content) > FILE_BYTES_MAX:
        raise UnreadableError(f"the file is larger than {FILE_BYTES_MAX} bytes")
    return content


def _without_outputs(text: str) -> str:
    """Return a notebook with its code cells alone. Raises UnreadableError."""
    try:
        cells = json.loads(text)["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        code = [one if isinstance(one, str) else "".join(one) for one in sources]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError("the notebook is malformed, or older than version 4") from error
    return json.dumps({"cells": [{"cell_type": "code", "source": one} for one in code]})
