"""The static files of the page, under an address that changes with their content.

The page names its files as /static/DIGEST/..., and relative imports stay below it. A browser keeps
each file for good, does not ask for it again, and never mixes files of two versions.
"""

from __future__ import annotations

import hashlib
import re
import time
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(str(files("headwater").joinpath("ui/static")))
# A cache may keep the file for good; or it must ask whether it is still the newest.
IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"
_DIGEST_CHARACTERS = 16
_MAIN = "app/main.js"
_DIGEST = re.compile(rf"[0-9a-f]{{{_DIGEST_CHARACTERS}}}")
# An import at the start of a module; modules name each other by relative paths.
_IMPORT = re.compile(r"""^(?:import|export|\}).* from "(\.[^"]+)";$""", re.MULTILINE)


class VersionedFiles(StaticFiles):
    """Files under /static, and the same ones under /static/DIGEST, which caches keep for good."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file; the digest of another version leads to the newest file, not to keep."""
        first, _, rest = path.partition("/")
        is_versioned = _DIGEST.fullmatch(first) is not None
        response = await super().get_response(rest if is_versioned else path, scope)
        is_kept = first == digest()
        response.headers["cache-control"] = IMMUTABLE if is_kept else REVALIDATED
        return response


def digest() -> str:
    """Return the digest of all static files; it follows within a second files that change."""
    return _digest_in(int(time.monotonic()))


@lru_cache(maxsize=1)
def _digest_in(_second: int) -> str:
    found = sorted(file for file in FOLDER.rglob("*") if file.is_file())
    stats = ((file, file.stat()) for file in found)
    return _content_digest(tuple((file, stat.st_mtime_ns, stat.st_size) for file, stat in stats))


def versioned_page(html: str) -> str:
    """Return a page whose addresses of static files name the digest.

    It lists the modules that the first one imports, at any depth: the browser loads them at once.
    """
    preloads = "".join(
        f'    <link rel="modulepreload" href="/static/{name}">\n' for name in imported_by(_MAIN)
    )
    return html.replace("  </head>", f"{preloads}  </head>").replace(
        '"/static/', f'"/static/{digest()}/'
    )


@cache
def imported_by(module: str) -> tuple[str, ...]:
    """Return the modules that a module of the page imports, at any depth, by their path."""
    found: dict[str, None] = {}
    waiting = [module]
    while waiting:
        file = FOLDER / waiting.pop()
        for name in _IMPORT.findall(file.read_text(encoding="utf-8")):
            path = str((file.parent / name).resolve().relative_to(FOLDER.resolve()))
            if path not in found:
                found[path] = None
                waiting.append(path)
    return tuple(found)


@lru_cache(maxsize=1)
def _content_digest(stats: tuple[tuple[Path, int, int], ...]) -> str:
    content = hashlib.sha256()
    for file, _, _ in stats:
        content.update(str(file.relative_to(FOLDER)).encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:_DIGEST_CHARACTERS]
