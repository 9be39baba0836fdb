"""A function times out at each cold start, and the rows of one region are missing.

    uploads.eu -> transform_eu -> curated.eu -> build_usage -> usage
    uploads.us -> transform_us -> curated.us -> build_usage
    usage -> usage-report (an answer)

Each invocation transforms one object. An instance of transform_us is kept warm; transform_eu
starts cold. Version 2.0 has a package of 260 MB: a cold start takes 26 s, and the work 8 s, but the
limit is 30 s. The provider invokes the function twice again, each time cold. build_usage makes the
report of tonight from the objects of eu of yesterday.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from headwater.scenarios.cloud_function import Deployment, Invocation, invoke
from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop, select

NIGHTS = 8
OBJECT_ROWS = 200
EVENTS = {"event_id": "int", "customer": "string", "units": "int"}
USAGE = {"customer": "string", "units": "int"}
# How old curated.eu may be: a night, and an hour to spare.
FRESHNESS = "25h"
LEVEL = "data-freshness"
INVOCATION_FACET = "cloudFunctionInvocation"
SMALL = Deployment("1.0", package_mb=40, memory_mb=512, limit_seconds=30)
LARGE = Deployment("2.0", package_mb=260, memory_mb=512, limit_seconds=30)
TUNED = Deployment("2.0", package_mb=260, memory_mb=1024, limit_seconds=30)
# Minutes after the object at which the provider invokes the function: at once, and again.
ATTEMPTS = (0, 1, 3)


def uploads(region: str, night: int) -> Rows:
    """Return the object of a region and night: ten customers, 20 events of each."""
    return [
        {
            "event_id": number,
            "customer": f"{region}-{number % 10}",
            "units": 1 + (number + night) % 4,
        }
        for number in range(OBJECT_ROWS)
    ]


def transform(events: Rows) -> Rows:
    """Copy the columns that the curated table has."""
    return select(events, EVENTS)


def usage(eu: Rows, us: Rows) -> Rows:
    """Return the units of each customer."""
    sums: dict[str, int] = {}
    for row in (*eu, *us):
        sums[row["customer"]] = sums.get(row["customer"], 0) + row["units"]
    return [{"customer": name, "units": total} for name, total in sorted(sums.items())]


BUILD = Job(
    "build_usage",
    ("curated.eu", "curated.us"),
    "usage",
    usage,
    USAGE,
    {name: (("curated.eu", name), ("curated.us", name)) for name in USAGE},
    owner="team:billing",
)


def transforming(region: str, deployment: Deployment, invocation: Invocation) -> Job:
    """Return the function as it runs for the object of a region."""

    def handler(events: Rows) -> Rows:
        if invocation.is_timeout:
            raise TimeoutError(f"Task timed out after {invocation.limit_seconds:.2f} seconds")
        return transform(events)

    return Job(
        f"transform_{region}",
        (f"uploads.{region}",),
        f"curated.{region}",
        handler,
        EVENTS,
        {name: [(f"uploads.{region}", name)] for name in EVENTS},
        owner="team:ingest",
        version=deployment.version,
        code=transform,
    )


def object_name(region: str, night: int) -> str:
    """Return the name of an object in the bucket of uploads."""
    return f"s3://uploads/{region}/night-{night}.json"


def run_function(
    shop: Workshop, region: str, night: int, deployment: Deployment, minute: float
) -> None:
    """Invoke the function for the object of a region, up to three times."""
    invocation = invoke(deployment, OBJECT_ROWS, is_warm=region == "us")
    for attempt, later in enumerate(ATTEMPTS, 1):
        facet = _facet(region, night, deployment, invocation, attempt)
        succeeded = shop.run(
            transforming(region, deployment, invocation),
            shop.night(night, minute + later),
            took=timedelta(seconds=invocation.seconds),
            facets={INVOCATION_FACET: facet},
        )
        if succeeded:
            return


def _facet(
    region: str, night: int, deployment: Deployment, invocation: Invocation, attempt: int
) -> dict[str, Any]:
    object_id = object_name(region, night)
    name = f"{object_id}/{deployment.version}/{deployment.memory_mb}/{attempt}"
    return {
        "invocationId": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "objectId": object_id,
        "attempt": attempt,
        "coldStart": invocation.is_cold,
        "startSeconds": invocation.start_seconds,
        "workSeconds": invocation.work_seconds,
        "memoryMb": deployment.memory_mb,
    }


def batch(shop: Workshop, night: int, deployment: Deployment) -> None:
    """Deliver the objects of a night, and let the functions and the report run."""
    for region in ("eu", "us"):
        shop.deliver(f"uploads.{region}", uploads(region, night), EVENTS, shop.night(night))
        run_function(shop, region, night, deployment, minute=5 if region == "eu" else 10)
    report(shop, night, minute=30)


def report(shop: Workshop, night: int, minute: float) -> None:
    """Build the usage, and write the report from it."""
    shop.run(BUILD, shop.night(night, minute))
    when = shop.night(night, minute + 5)
    shop.answer("usage-report", f"The usage of night {night}.", "usage", when, "team:billing")


def prepare(shop: Workshop) -> None:
    shop.tag("curated.eu", "freshness", FRESHNESS, shop.night(NIGHTS))
    for night in range(NIGHTS, 0, -1):
        batch(shop, night, SMALL)


def inject(shop: Workshop) -> None:
    batch(shop, 0, LARGE)
    shop.replay_from("job:transform_eu")


def repair(shop: Workshop) -> None:
    run_function(shop, "eu", 0, TUNED, minute=120)
    report(shop, 0, minute=130)


def examine(stage: Stage) -> None:
    """Ask for the invocations of tonight, and for the service level of fresh data."""
    facets = _invocations(stage)
    with stage.step("invocations", "which invocation lost which object") as step:
        cold = [one for one in facets if one["coldStart"]]
        lost = [one for one in facets if one["failed"]]
        step.expected = {
            "objects without rows": [object_name("eu", 0)],
            "cold starts": "3 of 4",
            "failed": "3 of 4",
            "failed of cold starts": "3 of 3",
        }
        step.found = {
            "objects without rows": sorted({one["objectId"] for one in lost}),
            "cold starts": f"{len(cold)} of {len(facets)}",
            "failed": f"{len(lost)} of {len(facets)}",
            "failed of cold starts": f"{sum(one['failed'] for one in cold)} of {len(cold)}",
        }
        step.ok = step.found == step.expected
        step.lines += [_invocation_line(one) for one in facets]
    _check_level(stage)


def _invocations(stage: Stage) -> list[dict[str, Any]]:
    """Return the facets of the invocations of tonight, as Headwater has them."""
    found = []
    runs = stage.workshop.runs
    for run_id in (*runs["transform_eu"][-len(ATTEMPTS) :], runs["transform_us"][-1]):
        run = stage.backend.ask("run_facets", runId=run_id)["run"]
        found.append({**run["facets"][INVOCATION_FACET], "failed": run["status"] == "FAIL"})
    return found


def _invocation_line(one: dict[str, Any]) -> str:
    start = "cold" if one["coldStart"] else "warm"
    end = "timed out" if one["failed"] else "succeeded"
    return (
        f"{one['objectId']} attempt {one['attempt']}, "
        f"invocation {one['invocationId'][:8]}: {start}, "
        f"{one['startSeconds']:.0f} s + {one['workSeconds']:.0f} s, {end}"
    )


def _check_level(stage: Stage) -> None:
    with stage.step("service-level", f"the level {LEVEL} has a broken day") as step:
        (level,) = stage.backend.ask("service_levels", ids=[LEVEL], days=1)["serviceLevels"]
        step.expected = {"has a broken day": True}
        step.found = {"has a broken day": level["good"] < level["total"]}
        step.ok = step.found == step.expected
        step.lines.append(
            f"{level['title']}: {level['good']:.0f} of {level['total']:.0f} days were good; "
            f"the value is {level['value']:.2f}, the target {level['target']}"
        )


def check_usage(stage: Stage) -> None:
    """Compare the usage with the objects of tonight."""
    expected = usage(uploads("eu", 0), uploads("us", 0))
    found = stage.workshop.read("usage")
    compare_tables(
        stage,
        "the usage of tonight, by hand and by the repaired function",
        {
            row["customer"]: (row["units"], other["units"])
            for row, other in zip(expected, found, strict=True)
        },
    )


STORY = Story(
    name="serverless-cold-start",
    title="A function times out at each cold start",
    fault="version 2.0 of transform_eu loads 260 MB, and cold starts take too long",
    repaired="the function has 1024 MB of memory, and transforms the lost object again",
    origin="seed 2, L465-471",
    prepare=prepare,
    inject=inject,
    repair=repair,
    examine=examine,
    verify=check_usage,
    truth=Truth(
        findings=frozenset(
            {
                ("failed-run", "job:transform_eu"),
                ("stale-dataset", "dataset:curated.eu"),
                ("stale-answer", "answer:usage-report"),
            }
        ),
        root=("failed-run", "job:transform_eu"),
        tier="P1",
        symptom="answer:usage-report",
        causes=(Cause("FAILED", ("transform_eu", "timed out after 30.00 seconds")),),
        consumers=frozenset(
            {"dataset:curated.eu", "job:build_usage", "dataset:usage", "answer:usage-report"}
        ),
        replay=(("job:transform_eu",), ("job:build_usage",)),
        answers=frozenset({"job:transform_eu"}),
    ),
)
