"""Take pictures of every view of the page: light and dark, desktop and phone.

    python -m scripts.pictures HOME FOLDER

HOME is that of a demo (`make demo`), or the address at which one is served. FOLDER gets a PNG file for each view, theme
and window. The pictures of README and docs go to docs/pictures too, with fewer colours.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode

from PIL import Image
from playwright.sync_api import sync_playwright
from rich.console import Console

from headwater.cli.demo import ANSWER
from headwater.cli.stack import Stack
from headwater.client import Client
from headwater.settings import load

DOCS = Path(__file__).resolve().parent.parent / "docs" / "pictures"
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
MILLISECONDS_MAX = 120_000
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# The pictures that README and docs show.
SHOWN = (
    "lineage-light-desktop",
    "failure-light-desktop",
    "answer-light-desktop",
    "column-dark-desktop",
    "executive-light-desktop",
    "on-call-dark-phone",
)
COLORS = 96


MART = "marts/airport_punctuality"
JOB = "nyc_flights.adaptive_spark_plan.marts_carrier_delays"
_FOUND = """{
  failedRuns(first: 1) { nodes { urn runId job { urn } } }
  datasets(first: 100) { nodes { urn name } }
  jobs(first: 100) { nodes { urn name } }
}"""


@dataclass(frozen=True)
class Window:
    """A window of the browser, in CSS pixels."""

    name: str
    width: int
    height: int


WINDOWS = (Window("desktop", 1280, 800), Window("phone", 390, 844))


def main(home: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    DOCS.mkdir(exist_ok=True)
    if home.startswith("http"):
        take(home, views(home), folder)
    else:
        with serving(Path(home).resolve()) as url:
            take(url, views(url), folder)
    for name in SHOWN:
        write_small(folder / f"{name}.png", DOCS / f"{name}.png")


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Serve a copy of a home; yield its address."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "home"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("flights"))
        settings = load(os.environ, home=str(copy), port=0)
        with Stack(settings, bolt_port=0, console=Console(stderr=True)) as stack:
            yield stack.url


def views(url: str) -> dict[str, str]:
    """Return the path of each view on the graph of a demo: its answer, its failure, their data."""
    found = Client(url).graphql(_FOUND)
    failure = found["failedRuns"]["nodes"][0]
    table = next(node["urn"] for node in found["datasets"]["nodes"] if node["name"].endswith(MART))
    job = next(node["urn"] for node in found["jobs"]["nodes"] if node["name"].endswith(JOB))
    column = f"{table.replace('dataset:', 'column:', 1)}:on_time"
    return {
        "home": "/",
        "search": "/search?text=punctuality",
        "lineage": _path("/lineage", urn=table, depth=3, sel=failure["job"]["urn"]),
        "list": _path("/lineage", urn=table, depth=2, view="list"),
        "column": _path("/lineage", urn=column, direction="UPSTREAM", depth=10),
        "versions": _path("/lineage", urn=f"answer:{ANSWER}", direction="UPSTREAM", depth=10),
        "failures": "/failures",
        "failure": _path("/failures", open=failure["urn"]),
        "dataset": f"/datasets/{quote(table, safe='')}",
        "job": f"/jobs/{quote(job, safe='')}",
        "run": f"/runs/{failure['runId']}",
        "answer": f"/answers/{ANSWER}",
        **{name: f"/dashboards/{name}" for name in ("executive", "on-call", "debug", "trust")},
        "sign-in": "/sign-in",
    }


def _path(path: str, **parameters: str | int) -> str:
    return f"{path}?{urlencode(parameters)}"


def take(url: str, paths: dict[str, str], folder: Path) -> None:
    """Write a picture of each view for each theme and window; print the size of each."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for window, theme in product(WINDOWS, THEMES):
            context = browser.new_context(
                base_url=url,
                viewport={"width": window.width, "height": window.height},
                color_scheme=theme,
            )
            context.set_default_timeout(MILLISECONDS_MAX)
            page = context.new_page()
            for name, path in paths.items():
                page.goto(path)
                page.wait_for_selector('body[data-ready="true"]')
                page.screenshot(path=folder / f"{name}-{theme}-{window.name}.png")
            context.close()
        browser.close()


def write_small(picture: Path, target: Path, colors: int = COLORS) -> None:
    """Write a picture with few colours: a page has few, and the file has a third of the size."""
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(colors, dither=Image.Dither.NONE)
        few.save(target, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
