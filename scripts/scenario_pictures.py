"""Take pictures of scenarios during their fault: the finding that caused the others, and the lineage.

    python -m scripts.scenario_pictures [NAME ...]

Each scenario runs on a stack of its own. The pictures go to docs/pictures, in the light theme and
with few colours.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, ViewportSize, sync_playwright
from rich.console import Console

from headwater.cli.scenario import running_stack
from headwater.scenarios import catalogue, investigation
from headwater.scenarios.stage import Stage, Target, open_workshop
from headwater.scenarios.story import Story
from scripts.pictures import CHROMIUM, DOCS, MILLISECONDS_MAX, write_small

# The scenarios of which docs/how-to/scenarios.md shows pictures.
SHOWN = ("schema-change",)
# A lineage from left to right needs a wide window to be whole.
WINDOWS: dict[str, ViewportSize] = {
    "finding": {"width": 1280, "height": 800},
    "lineage": {"width": 1600, "height": 560},
}
# The colours of the states differ little from each other.
COLORS = 224


def main(names: tuple[str, ...]) -> None:
    out = Console(stderr=True)
    for name in names:
        story = catalogue.load(name)
        with running_stack(None, out) as (_, target, folder):
            stage = Stage(story.truth, target, open_workshop(name, folder / name, target))
            take(story, stage, target)


def take(story: Story, stage: Stage, target: Target) -> None:
    """Play a scenario up to its fault, and write its pictures."""
    investigation.prepare(story, stage)
    investigation.inject(story, stage)
    root = investigation.find(stage)
    if root is None or not stage.ok:
        sys.exit(f"{story.name}: the findings are not those that it declares")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(base_url=target.url, color_scheme="light")
        context.set_default_timeout(MILLISECONDS_MAX)
        page = context.new_page()
        for view, path in paths(story, stage, root["id"]).items():
            page.set_viewport_size(WINDOWS[view])
            write_picture(page, path, DOCS / f"scenario-{story.name}-{view}.png")
        browser.close()


def paths(story: Story, stage: Stage, root: str) -> dict[str, str]:
    """Return the address of each picture: the root finding, and the lineage with the findings."""
    node = stage.workshop.urn(story.truth.root[1])
    lineage = {"urn": node, "direction": "DOWNSTREAM", "depth": 5, "overlay": "findings"}
    return {
        "finding": f"/finding?{urlencode({'id': root})}",
        "lineage": f"/lineage?{urlencode(lineage)}",
    }


def write_picture(page: Page, path: str, target: Path) -> None:
    """Write a picture of a view when it is drawn."""
    page.goto(path)
    page.wait_for_selector('body[data-ready="true"]')
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.png"
        page.screenshot(path=whole)
        write_small(whole, target, COLORS)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or SHOWN)
