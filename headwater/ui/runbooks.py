"""The runbooks of the findings as pages, so that an alert leads to one on any site.

They need no key and no script, and show no data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from headwater.health.findings.runbooks import RUNBOOKS, Runbook, runbook, runbook_url
from headwater.ui.static_files import digest
from headwater.web import STRICT_PAGE_HEADERS

AGE_SECONDS = 300
_HEADERS = STRICT_PAGE_HEADERS | {"cache-control": f"max-age={AGE_SECONDS}"}
_CODE = re.compile(r"`([^`]+)`")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Headwater</title>
<link rel="icon" href="/static/headwater.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/{digest}/app.css">
</head>
<body class="framed runbook">
<main>
{body}
</main>
</body>
</html>
"""


def runbook_routes() -> list[Route]:
    """Return the routes of the runbooks: the list, and the page of each rule."""
    return [
        Route("/runbooks", _list, methods=["GET"]),
        Route("/runbooks/{rule}", _show, methods=["GET"]),
    ]


async def _list(_: Request) -> Response:
    rows = [
        f'<li><a href="{runbook_url(name)}">{name}</a>: {escape(title)}</li>'
        for name, title in RUNBOOKS.items()
    ]
    return _page("Runbooks", ["<h1>Runbooks</h1>", "<ul>", *rows, "</ul>"])


async def _show(request: Request) -> Response:
    found = runbook(request.path_params["rule"])
    if found is None:
        body = ["<h1>No such runbook</h1>", '<p><a href="/runbooks">All runbooks</a></p>']
        return _page("No such runbook", body, status=404)
    return _page(f"{found.rule}: runbook", _body(found))


def _body(runbook: Runbook) -> list[str]:
    body = [
        '<nav><a href="/">Headwater</a> · <a href="/runbooks">All runbooks</a></nav>',
        f"<h1>{runbook.rule}: {escape(runbook.title)}</h1>",
        f"<p>{_inline(runbook.meaning)}</p>",
    ]
    for heading, steps in runbook.sections():
        body.append(f"<h2>{heading}</h2>")
        if len(steps) == 1:
            body.append(f"<p>{_inline(steps[0])}</p>")
        else:
            body += ["<ol>", *(f"<li>{_inline(step)}</li>" for step in steps), "</ol>"]
    return body


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def _page(title: str, body: Sequence[str], *, status: int = 200) -> Response:
    html = _PAGE.format(title=escape(title), digest=digest(), body="\n".join(body))
    return HTMLResponse(html, status, _HEADERS)
