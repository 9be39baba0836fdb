"""A figure as a page of its own, for frames in other pages: read-only, by a signed address.

GET /tiles/FIGURE?token=TOKEN needs no key: the token (headwater.access.tile_tokens) names the key
whose namespaces count. The page has no script. `HEADWATER_TILE_ORIGINS` names the sites that may
frame it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from headwater.access.tile_tokens import TileTokens
from headwater.errors import HeadwaterError, NotFoundError
from headwater.health.figures.definitions import FIGURES, Unit
from headwater.health.figures.figures import Figure, evaluate
from headwater.health.figures.snapshots import HISTORY_DAYS_DEFAULT, Point, history
from headwater.lineage.view import GraphView
from headwater.ui.static_files import digest
from headwater.web import page_headers

# A page that shows many tiles asks again at most so often.
AGE_SECONDS = 60
WIDTH, HEIGHT, PADDING = 240, 48, 3
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Headwater</title>
<link rel="stylesheet" href="/static/{digest}/app.css">
</head>
<body class="framed">{body}</body>
</html>
"""


def tile_routes(view: GraphView, tokens: TileTokens, origins: Iterable[str]) -> list[Route]:
    """Return the route of tiles, which pages of these origins may frame."""
    headers = page_headers(frame_ancestors=" ".join(sorted(origins)) or "'none'")
    headers["cache-control"] = f"private, max-age={AGE_SECONDS}"

    async def tile(request: Request) -> Response:
        name = request.path_params["figure"]
        token = request.query_params.get("token", "")
        try:
            html = await anyio.to_thread.run_sync(partial(_tile, view, tokens, name, token))
        except HeadwaterError as error:
            return HTMLResponse(_message(error), error.status, headers)
        return HTMLResponse(html, headers=headers)

    return [Route("/tiles/{figure}", tile, methods=["GET"])]


def _tile(view: GraphView, tokens: TileTokens, name: str, token: str) -> str:
    visible = view.visible_to(tokens.principal(name, token).visibility)
    definition = FIGURES.get(name)
    if definition is None:
        raise NotFoundError(f"there is no figure {name[:80]!r}")
    figure = evaluate(visible, definition)
    points = history(visible, [name], days=HISTORY_DAYS_DEFAULT)[name]
    return tile_page(figure, points)


def tile_page(figure: Figure, points: Sequence[Point]) -> str:
    """Return the page of a figure and its snapshots."""
    definition = figure.definition
    title, as_of = escape(definition.title), figure.as_of
    body = [
        f'<section class="tile{" below" if figure.is_out_of_bounds else ""}">',
        f"<h1>{title}</h1>",
        f'<span class="figure" data-figure="{definition.name}">',
        f"{figure_text(figure.value, definition.unit)}</span>",
        f'<div class="note">{escape(_part_of(figure))}</div>',
        _badge(figure),
        _trend(points, definition.unit),
        f'<div class="note">as of <time datetime="{as_of.isoformat()}">',
        f"{as_of:%Y-%m-%d %H:%M} UTC</time></div></section>",
    ]
    return _PAGE.format(title=title, digest=digest(), body="".join(body))


def figure_text(value: float | None, unit: Unit) -> str:
    """Return a value as people read it; a share is rounded down, as on the page."""
    if value is None:
        return "–"
    if unit is Unit.SHARE:
        return f"{int(value * 1000 + 1e-9) / 10:g} %"
    return f"{value:,.0f} s" if unit is Unit.SECONDS else f"{round(value, 1):,g}"


def _part_of(figure: Figure) -> str:
    definition = figure.definition
    days = f", last {definition.window_days} days" if definition.window_days else ""
    total = f"{figure.denominator:,} {definition.denominator}"
    if definition.unit is Unit.SHARE and figure.numerator is not None:
        return f"{figure.numerator:,.0f} of {total}{days}"
    return f"of {total}{days}"


def _badge(figure: Figure) -> str:
    threshold, value = figure.definition.threshold, figure.value
    if threshold is None or value is None:
        return ""
    bound = figure_text(threshold, figure.definition.unit)
    if not figure.is_out_of_bounds:
        return f'<div class="state state-complete">✓ good, bound {bound}</div>'
    word = "above" if value > threshold else "below"
    return f'<div class="state state-failed">⚠ {word} {bound}</div>'


def _trend(points: Sequence[Point], unit: Unit) -> str:
    known = [(point.day.toordinal(), point.value) for point in points if point.value is not None]
    if len(known) < 2:
        return ""
    first, last = known[0], known[-1]
    words = (
        f"Trend: from {figure_text(first[1], unit)} on {points[0].day} "
        f"to {figure_text(last[1], unit)} on {points[-1].day}"
    )
    return (
        f'<svg class="spark" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="{escape(words)}"><polyline points="{_line(known)}" fill="none" '
        'stroke="currentColor" stroke-width="2" stroke-linejoin="round" /></svg>'
    )


def _line(known: Sequence[tuple[int, float]]) -> str:
    """Return the corners of a line through values by day."""
    days, values = [day for day, _ in known], [value for _, value in known]
    low, high = min(0.0, *values), max(values)
    corners = []
    for day, value in known:
        across = (day - days[0]) / (days[-1] - days[0])
        up = (value - low) / (high - low) if high > low else 0.0
        x = PADDING + across * (WIDTH - 2 * PADDING)
        y = HEIGHT - PADDING - up * (HEIGHT - 2 * PADDING)
        corners.append(f"{x:.1f},{y:.1f}")
    return " ".join(corners)


def _message(error: HeadwaterError) -> str:
    body = (
        f'<div class="message failure"><strong>{escape(error.message)}</strong>'
        f"{escape(error.hint)}</div>"
    )
    return _PAGE.format(title="Tile", digest=digest(), body=body)
