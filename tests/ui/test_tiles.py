"""Tiles in frames of other pages: their values, their policy, and refused addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.access.tile_tokens import TileTokens
from headwater.cypher.driver.database import Database
from headwater.health.figures.definitions import FIGURES, Unit
from headwater.health.figures.figures import Figure
from headwater.health.figures.snapshots import Point, take_snapshot
from headwater.lineage.view import GraphView
from headwater.ui import routes as ui
from headwater.ui.tiles import figure_text, tile_page, tile_routes
from tests.browser import listening
from tests.canonical import empty
from tests.health.figures.story import write_story

NOW = datetime(2026, 1, 3, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    store = AccessStore(tmp_path_factory.mktemp("tiles") / "access.db")
    yield Keys(store)
    store.close()


@pytest.fixture(scope="module")
def tokens(keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> TileTokens:
    path: Path = tmp_path_factory.mktemp("secret") / "tile.key"
    return TileTokens(keys, path, required=True)


@pytest.fixture(scope="module")
def story(database: Database) -> GraphView:
    empty(database)
    write_story(database)
    view = GraphView(database)
    take_snapshot(view, datetime.now(UTC))
    return view


def client(view: GraphView, tokens: TileTokens, *origins: str) -> TestClient:
    return TestClient(Starlette(routes=tile_routes(view, tokens, origins)))


def signed(keys: Keys, tokens: TileTokens, figure: str, namespaces: Sequence[str] = ("*",)) -> str:
    name = f"{figure}-{len(keys.list())}"
    _, key = keys.create(name, [Scope.READ], namespaces=namespaces)
    return f"/tiles/{figure}?token={tokens.sign(figure, key, seconds=60)}"


def value_of(page: str) -> str:
    found = re.search(r'data-figure="[^"]+">([^<]*)<', page)
    assert found
    return found[1]


@pytest.mark.neo4j
def test_a_tile_shows_what_its_key_sees(story: GraphView, keys: Keys, tokens: TileTokens) -> None:
    tiles = client(story, tokens)
    whole = tiles.get(signed(keys, tokens, "coverage"))
    assert (whole.status_code, value_of(whole.text)) == (200, "85.7 %")
    assert "12 of 14 datasets and jobs" in whole.text
    # The jobs alone: all but guess.
    jobs = tiles.get(signed(keys, tokens, "coverage", namespaces=["etl"]))
    assert value_of(jobs.text) == "83.3 %"
    assert "Trend" not in jobs.text


@pytest.mark.neo4j
def test_a_tile_is_framed_by_the_named_sites_only(
    story: GraphView, keys: Keys, tokens: TileTokens
) -> None:
    address = signed(keys, tokens, "coverage")
    for origins, ancestors in (
        ([], "frame-ancestors 'none'"),
        (["https://b.example", "https://a.example"],
         "frame-ancestors https://a.example https://b.example"),
    ):  # fmt: skip
        policy = client(story, tokens, *origins).get(address).headers["content-security-policy"]
        assert policy.endswith(ancestors)
        assert "unsafe" not in policy


def test_addresses_without_a_valid_token_are_refused(keys: Keys, tokens: TileTokens) -> None:
    tiles = client(GraphView(None), tokens)  # type: ignore[arg-type]
    other = signed(keys, tokens, "coverage").replace("/coverage", "/failing-runs")
    for address in ("/tiles/coverage", "/tiles/coverage?token=x", other):
        answer = tiles.get(address)
        assert answer.status_code == 404
        assert "this address of a tile is not valid" in answer.text
    assert tiles.get(signed(keys, tokens, "wealth")).status_code == 404
    assert tiles.post("/tiles/coverage").status_code == 405


@pytest.mark.neo4j
@pytest.mark.slow
def test_a_page_of_another_site_shows_a_tile(
    story: GraphView, keys: Keys, tokens: TileTokens, browser: Browser
) -> None:
    # Two ports of this machine are two origins.
    frames: dict[str, str] = {}

    async def wiki(_: Request) -> Response:
        return HTMLResponse(f'<!doctype html><iframe src="{frames["src"]}"></iframe>')

    with listening(Starlette(routes=[Route("/", wiki)])) as site:
        routes = [*ui.routes(), *tile_routes(story, tokens, [site])]
        with listening(Starlette(routes=routes)) as headwater:
            frames["src"] = headwater + signed(keys, tokens, "certified-path-integrity")
            page = browser.new_page()
            page.goto(site)
            frame = page.frame_locator("iframe")
            expect(frame.locator('[data-figure="certified-path-integrity"]')).to_have_text("100 %")
            page.close()


def test_a_tile_draws_its_bound_and_its_trend() -> None:
    figure = Figure(FIGURES["failing-runs"], 0.125, 1, 8, NOW)
    points = [
        Point(date(2026, 1, day), value, None, 8, NOW, False)
        for day, value in ((1, 0.0), (2, None), (3, 0.125))
    ]
    page = tile_page(figure, points)
    assert "⚠ above 5 %" in page
    assert "1 of 8 runs that started in the window and ended, last 7 days" in page
    assert 'points="3.0,45.0 237.0,3.0"' in page
    assert "Trend: from 0 % on 2026-01-01 to 12.5 % on 2026-01-03" in page
    assert "as of <time" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, Unit.SHARE, "–"),
        (0.9996, Unit.SHARE, "99.9 %"),
        (1.0, Unit.SHARE, "100 %"),
        (2.04, Unit.COUNT, "2"),
        (1234.5, Unit.COUNT, "1,234.5"),
        (90.4, Unit.SECONDS, "90 s"),
    ],
)
def test_values_in_words(value: float | None, unit: Unit, text: str) -> None:
    assert figure_text(value, unit) == text
