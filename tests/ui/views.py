"""The views of the page, as the stories of the tests fill them."""

from __future__ import annotations

from tests.ui.finding_stories import FAILED, ROWS, path_of

DATASET = "/datasets/dataset%3Adb%3Aorders"
JOB = "/jobs/job%3Aetl%3Aload_orders"

# The address of each view on the history of stories.py.
FILLED = {
    "home": "/",
    "search": "/search?text=orders",
    "start of the explorer": "/lineage",
    "graph": "/lineage?urn=dataset%3Adb%3Aorders&depth=3&sel=job%3Aetl%3Aload_orders",
    "graph as a list": "/lineage?urn=dataset%3Adb%3Aorders&depth=3&view=list",
    "failures": "/failures?since=all",
    "failure": "/failures?since=all&open=run%3Abad",
    "findings": "/findings?state=all",
    "finding": path_of(FAILED),
    "policies": "/policies",
    "resolved finding": path_of(ROWS),
    "graph with findings": "/lineage?urn=dataset%3Adb%3Aorders&depth=3&overlay=findings",
    "dataset": f"{DATASET}?days=3650",
    "job": JOB,
    "failed run": "/runs/bad",
    "run": "/runs/report",
    "answer": "/answers/best-customer",
    "sign-in": "/sign-in",
    "dashboards": "/dashboards",
    "executive": "/dashboards/executive",
    "on call": "/dashboards/on-call?dataset=dataset%3Adb%3Aorders",
    "debug": "/dashboards/debug",
    "trust": "/dashboards/trust",
    "figure": "/dashboards/coverage",
}
# Views that have nothing to show, and say so.
EMPTY = {
    "home": "/",
    "search": "/search?text=nothing",
    "search without a text": "/search",
    "failures": "/failures?pipeline=nothing",
    "findings": "/findings?owner=nobody",
    "finding": "/finding?id=finding%3Amean%3Adataset%3Adb%3Anothing%401",
    "dataset": "/datasets/dataset%3Adb%3Anothing",
    "job": "/jobs/job%3Aetl%3Anothing",
    "run": "/runs/nothing",
    "answer": "/answers/nothing",
    "missing": "/dashboards/nothing",
}
