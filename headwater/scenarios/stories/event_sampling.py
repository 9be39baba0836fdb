"""Orders are lost in a stream, and one event in a hundred has lineage of its own.

    topic.orders -> enrich_orders -> orders_enriched -> load_sales -> sales
    sales -> sales-report (an answer)

Both of the first two are topics of a real Kafka. Version 2.0 of enrich_orders has no rate for GBP,
and leaves out those orders: 12 % of all. Each run has its lineage. Of the events, only a
deterministic sample of 1 % has records: at which offset a job read them, and where it wrote them.
"""

from __future__ import annotations

import hashlib
from itertools import chain
from pathlib import Path
from typing import Any

from headwater.scenarios import event_sample
from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.topic import stream_facet
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop
from headwater.steps import estimate_share, miss_probability
from headwater.steps.row_changes import SAMPLE_MAX

NIGHTS = 8
ORDERS = 10_000
RATE = 0.01
KEY = "order_id"
SOURCE = "topic.orders"
# The topics, with one partition each; sales is a table.
TOPICS = (SOURCE, "orders_enriched")
# The offset of the first order of tonight.
TONIGHT = NIGHTS * ORDERS
RAW = {KEY: "string", "currency": "string", "amount": "double"}
SALES = {KEY: "string", "currency": "string", "amount_eur": "double"}
RATES = {"EUR": 1.0, "USD": 0.9, "CHF": 1.1, "GBP": 1.2}
_PATTERN = ("GBP",) * 3 + ("USD",) * 6 + ("CHF",) * 4 + ("EUR",) * 12
_MILLION = 1_000_000


def raw_orders(night: int) -> Rows:
    """Return the orders of a night; three of 25 are in GBP."""
    return [
        {
            KEY: f"{night}-{number}",
            "currency": _PATTERN[number % 25],
            "amount": 10.0 + number % 40,
        }
        for number in range(ORDERS)
    ]


def enrich(orders: Rows) -> Rows:
    """Return the orders with their amounts in EUR."""
    return _converted(orders, RATES)


def enrich_some(orders: Rows) -> Rows:
    """Return the orders in EUR, USD and CHF, and leave out the others."""
    known = {name: rate for name, rate in RATES.items() if name != "GBP"}
    return _converted([row for row in orders if row["currency"] in known], known)


def _converted(orders: Rows, rates: dict[str, float]) -> Rows:
    return [
        {
            KEY: row[KEY],
            "currency": row["currency"],
            "amount_eur": round(row["amount"] * rates[row["currency"]], 2),
        }
        for row in orders
    ]


def load(orders: Rows) -> Rows:
    """Copy the orders."""
    return [dict(row) for row in orders]


def enriching(*, broken: bool = False) -> Job:
    """Return the job of version 1.9, or the broken one of 2.0."""
    columns = {KEY: KEY, "currency": "currency", "amount_eur": "amount"}
    return Job(
        "enrich_orders",
        (SOURCE,),
        "orders_enriched",
        enrich_some if broken else enrich,
        SALES,
        {name: [(SOURCE, source)] for name, source in columns.items()},
        owner="team:streams",
        version="2.0" if broken else "1.9",
    )


LOAD = Job(
    "load_sales",
    ("orders_enriched",),
    "sales",
    load,
    SALES,
    {name: [("orders_enriched", name)] for name in SALES},
    owner="team:sales",
)


def run_sampled(shop: Workshop, job: Job, night: int, minute: float) -> None:
    """Run a job on the new records of its topic, and record the lineage of the sampled events."""
    source = job.inputs[0]
    before, offsets = shop.topics.open(source, 1).poll(ORDERS)
    shop.write(source, before)
    after = job.compute(before)
    target = shop.topics.open(job.output, 1) if job.output in TOPICS else None
    records = event_sample.event_records(
        job,
        before,
        after,
        KEY,
        RATE,
        read_from=offsets[0]["startOffset"],
        written_from=target.latest()[0] if target else 0,
    )
    facets = event_sample.steps_facet(job, records, KEY)
    read = {source: stream_facet(offsets)}
    shop.run(job, shop.night(night, minute), facets=facets, input_facets=read)
    if target:
        target.publish(after)
    event_sample.write_records(_file(shop, shop.runs[job.name][-1]), records)


def deliver(shop: Workshop, night: int) -> None:
    orders = raw_orders(night)
    shop.deliver(SOURCE, orders, RAW, shop.night(night))
    shop.topics.open(SOURCE, 1).publish(orders)


def _file(shop: Workshop, run_id: str) -> Path:
    return shop.folder / "event-records" / f"{run_id}.jsonl"


def batch(shop: Workshop, night: int, enrich_job: Job, minute: float = 0) -> None:
    run_sampled(shop, enrich_job, night, minute + 5)
    run_sampled(shop, LOAD, night, minute + 10)
    when = shop.night(night, minute + 15)
    shop.answer("sales-report", f"The sales of night {night}.", "sales", when, "team:sales")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        deliver(shop, night)
        batch(shop, night, enriching())


def inject(shop: Workshop) -> None:
    deliver(shop, 0)
    batch(shop, 0, enriching(broken=True))
    shop.replay_from("job:enrich_orders")


def repair(shop: Workshop) -> None:
    shop.topics.open(SOURCE, 1).rewind()
    batch(shop, 0, enriching(), minute=60)


def is_in_sample(key: str) -> bool:
    """Return True for one key in a hundred: the definition, without Headwater's function."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return int(digest[:16], 16) * 100 < 2**64


def examine(stage: Stage) -> None:
    """Compare what the sample says with all events."""
    _check_coverage(stage)
    lost = _check_estimate(stage)
    _check_records(stage, lost)


def _check_coverage(stage: Stage) -> None:
    """Compare the runs that Headwater has with the runs that happened."""
    shop = stage.workshop
    with stage.step("job-level", "each run has its lineage, whatever the sample is") as step:
        names = ("enrich_orders", "load_sales")
        run_ids = chain.from_iterable(map(shop.runs.__getitem__, names))
        found = [_run(stage, run_id) for run_id in run_ids]
        covered = [run for run in found if run and run["inputs"] and run["outputs"]]
        step.expected = {"runs with inputs and outputs": len(names) * (NIGHTS + 1)}
        step.found = {"runs with inputs and outputs": len(covered)}
        step.ok = step.found == step.expected
        step.lines.append(f"{len(covered)} of {len(found)} runs")


def _run(stage: Stage, run_id: str) -> dict[str, Any]:
    run: dict[str, Any] = stage.backend.ask("run_facets", runId=run_id)["run"]
    return run


def _check_estimate(stage: Stage) -> list[str]:
    """Compare the share of lost events in the sample with that of all events.

    Returns the keys of the lost events that Headwater has.
    """
    shop, orders = stage.workshop, raw_orders(0)
    run_id = shop.runs["enrich_orders"][-1]
    with stage.step("sample", "how many events enrich_orders lost, by one in a hundred") as step:
        counts = _run(stage, run_id)["steps"][0]["rows"]
        sampled = [row for row in orders if is_in_sample(row[KEY])]
        lost = [row for row in sampled if row["currency"] == "GBP"]
        step.expected = {"sampled": len(sampled), "lost": len(lost), "truth within bounds": True}
        found = counts["kept"] + counts["dropped"]
        estimate = estimate_share(counts["dropped"], found)
        written = len(shop.read_version("orders_enriched", run_id))
        truth = (len(orders) - written) / len(orders)
        step.found = {
            "sampled": found,
            "lost": counts["dropped"],
            "truth within bounds": estimate.low <= truth <= estimate.high,
        }
        step.ok = step.found == step.expected
        step.lines += [
            f"{found} of {len(orders)} events are in the sample: {found / len(orders):.2%}",
            (
                f"{counts['dropped']} of {found} were lost: {estimate.share:.1%}, "
                f"with 95 % bounds {estimate.low:.1%} and {estimate.high:.1%}"
            ),
            (
                f"of all events {truth:.1%} were lost: "
                f"the estimate is {abs(estimate.share - truth) * 100:.1f} points off"
            ),
            f"a fault of 100 events is missed with probability {miss_probability(100, RATE):.1%}",
        ]
    keys: list[str] = counts["droppedSample"]
    return keys


def _check_records(stage: Stage, lost: list[str]) -> None:
    """Read the records of the sampled events, and compare each with the events themselves."""
    shop, orders = stage.workshop, raw_orders(0)
    records = event_sample.read_records(_file(shop, shop.runs["enrich_orders"][-1]))
    with stage.step("records", "the records of the sampled events confirm the cause") as step:
        missing = [one for one in records if one["writtenAt"] is None]
        truth = [row[KEY] for row in orders if row["currency"] == "GBP" and is_in_sample(row[KEY])]
        step.expected = {"lost": sorted(truth), "currencies": ["GBP"], "shown": True}
        step.found = {
            "lost": sorted(one["key"] for one in missing),
            "currencies": sorted({orders[one["readAt"] - TONIGHT]["currency"] for one in missing}),
            # The facet of the run has at most 20 keys.
            "shown": set(lost) <= set(truth) and len(lost) == min(len(truth), SAMPLE_MAX),
        }
        step.ok = step.found == step.expected
        for one in missing[:3]:
            row = orders[one["readAt"] - TONIGHT]
            step.lines.append(
                f"{one['key']}: {one['readFrom']} at {one['readAt']} "
                f"({row['currency']} {row['amount']:.2f}), not in {one['writtenTo']}"
            )
        kept = [one for one in records if one["writtenAt"] is not None]
        step.lines += [f"{one['key']}: {_places(one)}" for one in kept[:1]]
        step.lines.append(_cost(enriching(broken=True), orders, records))


def _places(one: dict[str, Any]) -> str:
    return (
        f"{one['readFrom']} at {one['readAt']}, written to {one['writtenTo']} at {one['writtenAt']}"
    )


def _cost(job: Job, orders: Rows, records: Rows) -> str:
    whole = event_sample.event_records(job, orders, job.compute(orders), KEY, 1.0)
    sizes = [len(event_sample.as_lines(some)) / len(orders) for some in (records, whole)]
    small, large = (f"{size * _MILLION / 1e6:.1f} MB" for size in sizes)
    return f"records for a million events: {small}; of all events {large}"


def check_sales(stage: Stage) -> None:
    """Compare the repaired sales with those of the right code, in each currency."""
    expected, found = _totals(enrich(raw_orders(0))), _totals(stage.workshop.read("sales"))
    compare_tables(
        stage,
        "the sales of tonight in EUR by currency, by hand and by the job that runs 1.9 again",
        {name: (total, found.get(name)) for name, total in expected.items()},
    )


def _totals(rows: Rows) -> dict[str, float]:
    sums: dict[str, float] = {}
    for row in rows:
        sums[row["currency"]] = sums.get(row["currency"], 0.0) + row["amount_eur"]
    return {name: round(total, 2) for name, total in sorted(sums.items())}


STORY = Story(
    name="event-sampling",
    title="Orders are lost, and one event in a hundred has lineage of its own",
    fault="version 2.0 of enrich_orders leaves out the orders in GBP",
    repaired="version 1.9 is back, and both jobs run again",
    origin="seed 2, L482-488",
    prepare=prepare,
    inject=inject,
    repair=repair,
    examine=examine,
    verify=check_sales,
    truth=Truth(
        findings=frozenset(
            {
                ("row-count", "dataset:orders_enriched"),
                ("row-count", "dataset:sales"),
                ("distinct-count", "dataset:orders_enriched"),
                ("distinct-count", "dataset:sales"),
            }
        ),
        root=("row-count", "dataset:orders_enriched"),
        tier="P2",
        symptom="dataset:sales",
        causes=(
            Cause("CODE_CHANGED", ("enrich_orders ran code 2.0", "1.9")),
            Cause("ROW_COUNT_OUTLIER", ("orders_enriched has 8800 rows", "10000")),
        ),
        consumers=frozenset({"job:load_sales", "dataset:sales", "answer:sales-report"}),
        replay=(("job:enrich_orders",), ("job:load_sales",)),
        answers=frozenset({"job:enrich_orders", "dataset:orders_enriched"}),
    ),
)
