"""A service is deployed with a wrong formula, and a number of the warehouse moves.

    topic.clicks -> gateway -> topic.events -> enricher -> topic.enriched (services, by their spans)
    topic.enriched -> aggregate_usage -> usage -> usage-dashboard (an answer)

The services send spans over OTLP, and no OpenLineage events. The nightly job names a trace of the
messages that it read. Version 2.0 of enricher gives the discount of partners twice.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.services import Service, serve, trace_ids
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop

NIGHTS = 10
DISCOUNT = 0.7
CLICKS = {"click_id": "int", "partner": "string", "cents": "int"}
USAGE = {"partner": "string", "amount": "double"}


def raw_clicks(night: int) -> Rows:
    """Return the clicks of a night."""
    return [
        {
            "click_id": number,
            "partner": f"P{number % 6}",
            "cents": 1000 + (number * 13 + night * 7) % 100,
        }
        for number in range(240)
    ]


def accept(clicks: Rows) -> Rows:
    """Pass valid clicks on."""
    return [dict(row) for row in clicks if row["cents"] > 0]


def enrich(events: Rows) -> Rows:
    """Add the amount after the discount."""
    return [{**row, "amount": round(row["cents"] / 100 * DISCOUNT, 4)} for row in events]


def enrich_twice(events: Rows) -> Rows:
    """Add the amount after the discount, which the new formula gives twice."""
    return [{**row, "amount": round(row["cents"] / 100 * DISCOUNT**2, 4)} for row in events]


def usage(enriched: Rows) -> Rows:
    """Return the amount of each partner."""
    sums: dict[str, float] = {}
    for row in enriched:
        sums[row["partner"]] = sums.get(row["partner"], 0.0) + row["amount"]
    return [{"partner": name, "amount": round(total, 2)} for name, total in sorted(sums.items())]


GATEWAY = Service("gateway", "topic.clicks", "topic.events", accept)
AGGREGATE = Job(
    "aggregate_usage",
    ("topic.enriched",),
    "usage",
    usage,
    USAGE,
    {
        "partner": [("topic.enriched", "partner")],
        "amount": [("topic.enriched", "amount")],
    },
    owner="team:finance",
)


def enricher(*, broken: bool = False) -> Service:
    """Return the service of version 1.4, or the broken one of 2.0."""
    return Service(
        "enricher",
        "topic.events",
        "topic.enriched",
        enrich_twice if broken else enrich,
        version="2.0" if broken else "1.4",
    )


def batch(shop: Workshop, night: int, service: Service, minute: float = 0) -> None:
    requests = shop.night(night, minute)
    serve(shop, GATEWAY, requests)
    serve(shop, service, requests, hop=1)
    trace = trace_ids(shop.namespace, requests)[0]
    shop.run(AGGREGATE, shop.night(night, minute + 10), trace_id=trace)
    when = shop.night(night, minute + 15)
    shop.answer("usage-dashboard", f"The usage of night {night}.", "usage", when, "team:finance")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        shop.deliver("topic.clicks", raw_clicks(night), CLICKS, shop.night(night, -5))
        batch(shop, night, enricher())


def inject(shop: Workshop) -> None:
    shop.deliver("topic.clicks", raw_clicks(0), CLICKS, shop.night(0, -5))
    batch(shop, 0, enricher(broken=True))
    shop.replay_from("job:aggregate_usage")


def follow_trace(stage: Stage) -> None:
    """Ask which services and runs the trace of a wrong message names."""
    shop = stage.workshop
    trace = trace_ids(shop.namespace, shop.night(0))[0]
    with stage.step("trace", "which services and jobs the messages went through") as step:
        [found] = stage.backend.ask("traces", traceId=trace, first=1)["traces"]
        step.expected = {
            "services": ["service:enricher", "service:gateway"],
            "jobs": ["aggregate_usage", "enricher", "gateway"],
        }
        step.found = {
            "services": sorted(stage.short(one["urn"]) for one in found["services"]),
            "jobs": sorted(run["pipelineName"] for run in found["runs"]),
        }
        step.ok = step.found == step.expected
        for run in found["runs"]:
            step.lines.append(f"{trace}  {run['startedAt']}  {run['pipelineName']}")


def repair(shop: Workshop) -> None:
    batch(shop, 0, enricher(), minute=60)


def compare_usage(stage: Stage) -> None:
    expected = usage(enrich(accept(raw_clicks(0))))
    compare_tables(
        stage,
        "the usage of tonight, by hand and after the rollback to 1.4",
        {"usage": (expected, stage.workshop.read("usage"))},
    )


STORY = Story(
    name="microservices-regression",
    title="A service is deployed with a wrong formula",
    fault="version 2.0 of the service enricher gives the discount twice",
    repaired="version 1.4 of enricher is back, and the messages are handled again",
    origin="seed 2, L456-463",
    prepare=prepare,
    inject=inject,
    examine=follow_trace,
    repair=repair,
    verify=compare_usage,
    truth=Truth(
        findings=frozenset({("mean", "dataset:usage")}),
        root=("mean", "dataset:usage"),
        tier="P2",
        symptom="answer:usage-dashboard",
        causes=(
            Cause("CODE_CHANGED", ("enricher ran code 2.0", "1.4")),
            Cause("COLUMN_MEASURE_CHANGED", ("usage", "amount")),
        ),
        consumers=frozenset({"answer:usage-dashboard"}),
        replay=(("job:aggregate_usage",),),
        answers=frozenset({"service:enricher", "dataset:topic.enriched"}),
    ),
)
