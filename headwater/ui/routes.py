"""Routes of the page: one HTML file for every view, and static files.

The view is chosen in the browser by the address (static/app/router.js). The files need no key; what
they show comes from GraphQL, which asks for one.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from headwater.ui.static_files import REVALIDATED, VersionedFiles, versioned_page
from headwater.web import STRICT_PAGE_HEADERS

VIEWS = (
    "/lineage",
    "/search",
    "/failures",
    "/findings",
    "/finding",
    "/policies",
    "/sign-in",
    "/datasets/{urn:path}",
    "/jobs/{urn:path}",
    "/runs/{id:path}",
    "/answers/{id:path}",
    "/dashboards",
    "/dashboards/{name}",
)
_GZIP_BYTES_MIN = 1_000


def routes() -> list[BaseRoute]:
    """Return the routes of the page and of its files."""
    return [
        Route("/", _start),
        *(Route(path, _page, methods=["GET"]) for path in VIEWS),
        Mount("/static", GZipMiddleware(VersionedFiles(), minimum_size=_GZIP_BYTES_MIN)),
    ]


@cache
def documents() -> dict[str, str]:
    """Return the GraphQL documents of the page by name, `page.NAME`."""
    folder = files("headwater").joinpath("ui/documents")
    return {
        file.name.removesuffix(".graphql"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".graphql")
    }


async def _start(request: Request) -> Response:
    """Return the first view to browsers, and the other paths as JSON to programs."""
    if "text/html" in request.headers.get("accept", ""):
        return await _page(request)
    return JSONResponse(
        {
            "name": "Headwater",
            "send events to": "/api/v1/lineage",
            "ask at": "/graphql",
            "health": ["/healthz", "/readyz", "/metrics"],
        }
    )


async def _page(_: Request) -> Response:
    headers = STRICT_PAGE_HEADERS | {"cache-control": REVALIDATED}
    return HTMLResponse(versioned_page(_html()), headers=headers)


@cache
def _html() -> str:
    return files("headwater").joinpath("ui/static/index.html").read_text(encoding="utf-8")
