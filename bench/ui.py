"""Measure the page in headless Chromium: `python -m bench.ui`.

First the start of the views: first paint, ready for input, and the compressed bytes that they load.
Then the explorer with graphs of several sizes: the time from the arrival of the answer to the drawn
graph, and the frames a second while one scrolls, drags and zooms with real input events.

The page is served with its own files. Answers of GraphQL come from memory, in the form of the real
ones: what is measured is the browser. `bench.queries` measures the server.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.report import Report, print_progress, spread
from headwater.ui.routes import routes

SIZES = (60, 1_000, 5_000, 50_000)
LAYERS = 12
NAMESPACES = 40
LINKS_PER_NODE = 1.3
SEED = 15
STATES = ("OK", "OK", "OK", "OK", "FAILED", "STALE", "UPSTREAM_FAILED", "RUNNING")
VIEWPORT = {"width": 1280, "height": 800}
GESTURE_SECONDS = 3.0
MILLISECONDS_MAX = 300_000
# The targets of the design: milliseconds, bytes and frames a second.
TARGETS = {"firstPaint": 1_000, "ready": 1_500, "bytes": 300_000, "drawn": 1_000, "frames": 30}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# Record when the answer that holds a graph was read, and when the view was first drawn.
_WATCH = """
window.measured = {};
const send = window.fetch;
window.fetch = async (...all) => {
  const response = await send(...all);
  if (!String(all[0]).includes("/graphql")) return response;
  const text = await response.text();
  window.measured.arrived ??= performance.now();
  return new Response(text, response);
};
addEventListener("DOMContentLoaded", () => {
  const drawn = () => {
    const { arrived, ready } = window.measured;
    if (document.body.dataset.ready !== "true" || !arrived || ready) return;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.measured.ready ??= performance.now();
      document.body.dataset.measured = "true";
    }));
  };
  new MutationObserver(drawn).observe(document.body, {
    attributes: true, attributeFilter: ["data-ready"],
  });
  drawn();
});
"""
_COUNT_FRAMES = """() => {
  window.frames_ = [];
  const next = (time) => {
    window.frames_.push(time);
    window.counting_ = requestAnimationFrame(next);
  };
  window.counting_ = requestAnimationFrame(next);
}"""
_FRAMES = "() => { cancelAnimationFrame(window.counting_); return window.frames_; }"


def graph_answer(size: int) -> dict[str, Any]:
    """Return the answer about a graph of so many nodes, datasets and jobs in turn, by layers."""
    chance = random.Random(SEED)
    per_layer = -(-size // LAYERS)
    urns = [_urn(index, index // per_layer) for index in range(size)]
    centre = urns[(LAYERS // 2) * per_layer] if size > per_layer else urns[0]
    edges = []
    for index in range(per_layer, size):
        for _ in range(1 + (chance.random() < LINKS_PER_NODE - 1)):
            back = chance.randrange(per_layer)
            source = (index // per_layer - 1) * per_layer + back
            kind = "PRODUCED" if urns[source].startswith("job:") else "FEEDS"
            edges.append({"source": urns[source], "target": urns[index], "type": kind})
    part = {
        "starts": [centre],
        "truncated": False,
        "truncatedBy": None,
        "omittedCount": 0,
        "nodes": [_node(urn, index, chance) for index, urn in enumerate(urns)],
        "edges": edges,
        "difference": None,
    }
    return {"data": {"lineage": part}}


def _urn(index: int, layer: int) -> str:
    kind = "job" if layer % 2 else "dataset"
    return f"{kind}:bench{index % NAMESPACES}:shop.table_{index:06}"


def _node(urn: str, index: int, chance: random.Random) -> dict[str, Any]:
    kind, namespace, name = urn.split(":")
    overview = {
        "state": chance.choice(STATES),
        "stateSince": "2026-01-31T12:00:00Z",
        "stateCause": None,
        "lastRunAt": "2026-01-31T12:00:00Z",
        "lastRunId": f"run-{index}",
        "updatedAt": "2026-01-31T12:05:00Z",
        "rowCount": index * 17,
        "owners": [f"team:{index % 9}"],
        "tags": ["certified"] if index % 5 == 0 else [],
        "type": "TABLE" if kind == "dataset" else "TASK",
        "columnCount": 12,
        "failedChecks": 0,
        "openFindings": 0,
        "findingTier": None,
        "personalData": None,
        "personalDataClasses": [],
        "upstreamCount": 0,
        "downstreamCount": 0,
    }
    named = {"urn": urn, "kind": kind.upper(), "namespace": namespace, "name": name}
    return {**named, "distance": None, "overview": overview}


class Answers:
    """The answers of GraphQL, from memory: that of the explorer is the graph that was set."""

    def __init__(self) -> None:
        self._graph = b"{}"

    def set_graph(self, answer: dict[str, Any]) -> None:
        self._graph = json.dumps(answer).encode()

    async def answer(self, request: Request) -> Response:
        """Return the graph to the explorer, and empty lists to other questions."""
        document = (await request.json()).get("documentId")
        empty = {"nodes": [], "edges": [], "totalCount": 0}
        fields = dict.fromkeys(("failedRuns", "answers", "runs"), empty)
        content = self._graph if document == "page.Explore" else json.dumps({"data": fields})
        return Response(content, media_type="application/json")


@contextmanager
def serving(answers: Answers) -> Iterator[str]:
    """Serve the page with these answers; yield its address."""
    application = Starlette(routes=[*routes(), Route("/graphql", answers.answer, methods=["POST"])])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(application, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[tuple[Page, list[float]]]:
    """Open an address in a cold tab; yield it when it is ready, with the bytes of each load."""
    context = browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
    context.set_default_timeout(MILLISECONDS_MAX)
    page = context.new_page()
    page.add_init_script(_WATCH)
    loaded: list[float] = []
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
    try:
        page.goto(address)
        page.wait_for_selector("body[data-measured]")
        yield page, loaded
    finally:
        context.close()


def start_of(browser: Browser, address: str, repeats: int) -> dict[str, Any]:
    """Return how a view starts in a cold tab: first paint, ready, and the bytes it loads."""
    paints, readies = [], []
    bytes_loaded = 0.0
    for _ in range(repeats):
        with opened(browser, address) as (page, loaded):
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            readies.append(page.evaluate("window.measured.ready"))
            bytes_loaded = sum(loaded)
    return {
        "firstPaintMilliseconds": spread(paints),
        "readyMilliseconds": spread(readies),
        "bytes": bytes_loaded,
    }


def drawing_of(browser: Browser, address: str, repeats: int) -> dict[str, Any]:
    """Return how the explorer draws the graph of an address, and moves it."""
    drawn = []
    frames: dict[str, Any] = {}
    layer = ""
    for attempt in range(repeats):
        with opened(browser, address) as (page, _):
            drawn.append(page.evaluate("window.measured.ready - window.measured.arrived"))
            if attempt == 0:
                layer = page.evaluate("document.querySelector('canvas.picture') ? 'canvas' : 'SVG'")
                nodes = page.locator(".node").count()
                heap = page.evaluate("performance.memory?.usedJSHeapSize ?? null")
                frames = {name: _frames(page, name) for name in GESTURES}
                page.keyboard.press("f")
                page.wait_for_timeout(500)
                frames |= {f"{name}, all in sight": _frames(page, name) for name in GESTURES}
    return {
        "layer": layer,
        "svgNodes": nodes,
        "drawnMilliseconds": spread(drawn),
        "heapBytes": heap,
        "gestures": frames,
    }


def _scroll(page: Page, step: int) -> None:
    page.mouse.wheel(40 if step % 60 < 30 else -40, 25 if step % 40 < 20 else -25)


def _drag(page: Page, step: int) -> None:
    phase = step % 60
    page.mouse.move(640 + (phase if phase < 30 else 60 - phase) * 12, 450 + step % 30 * 4)


def _zoom(page: Page, step: int) -> None:
    page.mouse.wheel(0, 60 if step % 24 < 12 else -60)


GESTURES: dict[str, Callable[[Page, int], None]] = {
    "scroll": _scroll,
    "drag": _drag,
    "zoom": _zoom,
}


def _frames(page: Page, name: str) -> dict[str, Any]:
    """Return the frames a second during a gesture, and the gaps between frames in milliseconds."""
    page.mouse.move(640, 450)
    if name == "drag":
        page.mouse.down()
    if name == "zoom":
        page.keyboard.down("Control")
    page.evaluate(_COUNT_FRAMES)
    until = time.monotonic() + GESTURE_SECONDS
    step = 0
    while time.monotonic() < until:
        GESTURES[name](page, step)
        step += 1
    times = page.evaluate(_FRAMES)
    page.keyboard.up("Control")
    page.mouse.up()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    seconds = (times[-1] - times[0]) / 1_000
    return {"framesPerSecond": round(len(gaps) / seconds, 1), "gaps": spread(gaps), "inputs": step}


def main() -> None:
    """Measure and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="nodes of each graph")
    parser.add_argument("--repeats", type=int, default=5, help="cold loads of each view")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its path")
    options = parser.parse_args()
    report = Report("ui")
    answers = Answers()
    starts: dict[str, Any] = {}
    graphs: dict[str, Any] = {}
    with serving(answers) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=FLAGS)
        for size in options.sizes:
            answer = graph_answer(size)
            answers.set_graph(answer)
            urn = answer["data"]["lineage"]["starts"][0]
            view = f"{address}/lineage?urn={urn}&depth=50"
            if not starts:
                for name, path in {"/": address, "/lineage": view}.items():
                    print_progress(f"the start of {name}")
                    starts[name] = start_of(browser, path, options.repeats)
            print_progress(f"a graph of {size} nodes")
            graphs[str(size)] = drawing_of(browser, f"{view}&whole=true", options.repeats)
        version = browser.version
        browser.close()
    print(report.text(chromium=version, targets=TARGETS, starts=starts, graphs=graphs))


if __name__ == "__main__":
    main()
