"""A source system is replaced, and one reader of the old one is overlooked.

    legacy.orders -> load_orders -> orders -> build_revenue -> revenue -> revenue-report (an answer)
    cloud.orders  -> load_orders    orders -> build_ltv -> ltv -> ltv-report (an answer)
    legacy.orders -> build_ltv

load_orders reads the old system, then both and compares them, then the new one. The old system is
deprecated. build_ltv still takes the channel of each customer from it, and a finding names it.
The old system is switched off all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop

NIGHTS = 9
# Nights ago: from then on both systems are read, then only the new one.
PARALLEL_SINCE, CLOUD_SINCE = 6, 3
OLD, NEW = "legacy.orders", "cloud.orders"
ORDERS = {"order_id": "int", "customer": "string", "channel": "string", "amount": "double"}
REVENUE = {"channel": "string", "revenue": "double"}
LTV = {"customer": "string", "channel": "string", "ltv": "double"}


def raw_orders(night: int) -> Rows:
    """Return the orders of a night; both systems have the same."""
    return [
        {
            "order_id": number,
            "customer": f"C{number % 30:02}",
            "channel": "shop" if number % 30 < 20 else "web",
            "amount": 20.0 + (number * 3 + night) % 10,
        }
        for number in range(180)
    ]


def load(orders: Rows) -> Rows:
    """Copy the orders."""
    return [dict(row) for row in orders]


def load_both(old: Rows, new: Rows) -> Rows:
    """Copy the orders of the new system. Raise ValueError if those of the old one differ."""
    differing = sum(one != other for one, other in zip(old, new, strict=True))
    if differing:
        raise ValueError(f"{differing} orders differ between the systems")
    return load(new)


def revenue(orders: Rows) -> Rows:
    """Return the revenue of each channel."""
    sums: dict[str, float] = {}
    for row in orders:
        sums[row["channel"]] = sums.get(row["channel"], 0.0) + row["amount"]
    return [{"channel": channel, "revenue": total} for channel, total in sorted(sums.items())]


def ltv_with_lookup(orders: Rows, old: Rows) -> Rows:
    """Return the value of each customer, with the channel that the old system has."""
    channels = {row["customer"]: row["channel"] for row in old}
    return [{**row, "channel": channels[row["customer"]]} for row in ltv(orders)]


def ltv(orders: Rows) -> Rows:
    """Return the value of each customer, with the channel of the orders."""
    found: dict[str, dict[str, Any]] = {}
    for row in orders:
        one = found.setdefault(
            row["customer"], {"customer": row["customer"], "channel": row["channel"], "ltv": 0.0}
        )
        one["ltv"] += row["amount"]
    return [found[customer] for customer in sorted(found)]


def loading(night: int) -> Job:
    """Return the job that copies the orders, as it was that many nights ago."""
    if night > PARALLEL_SINCE:
        return _loading((OLD,), load, "1.0")
    if night > CLOUD_SINCE:
        return _loading((OLD, NEW), load_both, "2.0")
    return _loading((NEW,), load, "3.0")


def _loading(inputs: tuple[str, ...], compute: Callable[..., Rows], version: str) -> Job:
    columns = {name: list(product(inputs, [name])) for name in ORDERS}
    return Job("load_orders", inputs, "orders", compute, ORDERS, columns, "team:shop", version)


def building_ltv(*, migrated: bool = False) -> Job:
    """Return the job of the values; the migrated one reads no system itself."""
    source = "orders" if migrated else OLD
    return Job(
        "build_ltv",
        ("orders",) if migrated else ("orders", OLD),
        "ltv",
        ltv if migrated else ltv_with_lookup,
        LTV,
        {
            "customer": [("orders", "customer")],
            "channel": [(source, "channel")],
            "ltv": [("orders", "amount")],
        },
        owner="team:growth",
        version="2.0" if migrated else "1.0",
    )


BUILD_REVENUE = Job(
    "build_revenue",
    ("orders",),
    "revenue",
    revenue,
    REVENUE,
    {"channel": [("orders", "channel")], "revenue": [("orders", "amount")]},
    owner="team:finance",
)


def batch(shop: Workshop, night: int, ltv_job: Job, minute: float = 0) -> None:
    shop.run(loading(night), shop.night(night, minute + 5))
    shop.run(BUILD_REVENUE, shop.night(night, minute + 10))
    shop.run(ltv_job, shop.night(night, minute + 11))
    when = shop.night(night, minute + 15)
    shop.answer("revenue-report", f"The revenue of night {night}.", "revenue", when, "team:finance")
    shop.answer("ltv-report", f"The values of night {night}.", "ltv", when, "team:growth")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, -1, -1):
        shop.deliver(OLD, raw_orders(night), ORDERS, shop.night(night))
        if night <= PARALLEL_SINCE:
            shop.deliver(NEW, raw_orders(night), ORDERS, shop.night(night, 1))
        if night == CLOUD_SINCE:
            shop.deprecate(OLD, NEW, "The orders moved to the cloud.", shop.night(night, 2))
        batch(shop, night, building_ltv())


def check_parity(stage: Stage) -> None:
    """Compare both systems, and ask who still reads the old one."""
    shop = stage.workshop
    with stage.step("parity", "both systems have the same orders, and the same revenue") as step:
        old, new = shop.read(OLD), shop.read(NEW)
        step.expected = {"rows": len(old), "revenue": revenue(old)}
        step.found = {"rows": len(new), "revenue": revenue(new)}
        step.ok = step.found == step.expected and old == new
        step.lines.append(f"{len(new)} of {len(old)} orders are equal")
    check_coverage(stage, {"datasets": 5, "connected": 5})
    with stage.step("readers", "who still reads the deprecated system") as step:
        finding = stage.wait(lambda: _deprecated_source(stage), lambda one: one is not None)
        step.expected = ["job:build_ltv"]
        readers = finding["evidence"]["readers"] if finding else []
        step.found = sorted(stage.short(one["job"]) for one in readers)
        step.ok = step.found == step.expected
        for one in readers:
            reader = f"{stage.short(one['job'])}  {', '.join(one['owners'])}"
            step.lines.append(f"P3 deprecated-source dataset:{OLD}: {reader}")


def _deprecated_source(stage: Stage) -> dict[str, Any] | None:
    urn = stage.workshop.urn(f"dataset:{OLD}")
    listed = stage.list_findings(rule="deprecated-source", urn=urn, open=True)
    return listed[0] if listed else None


def check_coverage(stage: Stage, expected: dict[str, int]) -> None:
    """Compare the number of datasets, and of those in lineage; dropped ones are not counted."""
    namespace = stage.workshop.namespace
    with stage.step("coverage", "each dataset is in lineage") as step:
        asked = stage.backend.ask("coverage", days=1, namespace=namespace, after=None)
        total = asked["coverage"]["total"]
        step.expected = expected
        step.found = {name: total[name] for name in expected}
        step.ok = step.found == step.expected
        step.lines.append(f"{total['connected']} of {total['datasets']} datasets")


def inject(shop: Workshop) -> None:
    shop.drop("switch_off", OLD, shop.night(0, 40))
    shop.run(building_ltv(), shop.night(0, 51))
    when = shop.night(0, 55)
    shop.answer("ltv-report", "The values of tonight, again.", "ltv", when, "team:growth")
    shop.replay_from("job:build_ltv")


def repair(shop: Workshop) -> None:
    batch(shop, 0, building_ltv(migrated=True), minute=120)


def check_migrated(stage: Stage) -> None:
    """Check that nobody reads the old system, and that the tables are right."""
    shop = stage.workshop
    with stage.step("readers", "nobody reads the old system any more") as step:
        old, new = (
            stage.backend.ask("dataset", id=shop.urn(f"dataset:{name}"))["node"]
            for name in (OLD, NEW)
        )
        step.expected = {"old": [], "new": ["job:load_orders"], "findings": 0}
        step.found = {
            "old": [stage.short(one["urn"]) for one in old["readBy"]],
            "new": [stage.short(one["urn"]) for one in new["readBy"]],
            "findings": int(_deprecated_source(stage) is not None),
        }
        step.ok = step.found == step.expected
        step.lines.append(f"{OLD}: dropped at {old['droppedAt']}, {len(old['readBy'])} readers")
    check_coverage(stage, {"datasets": 4, "connected": 4})
    compare_tables(
        stage,
        "the tables of tonight, by hand and by the migrated jobs",
        {
            "revenue": (revenue(raw_orders(0)), shop.read("revenue")),
            "ltv": (ltv(raw_orders(0)), shop.read("ltv")),
        },
    )


STORY = Story(
    name="migration",
    title="A source system is replaced, and one reader is overlooked",
    fault="legacy.orders is switched off, and build_ltv still reads it",
    repaired="build_ltv takes the channel from orders, and the jobs run again",
    origin="seed 1, L13-18",
    prepare=prepare,
    before_fault=check_parity,
    inject=inject,
    repair=repair,
    verify=check_migrated,
    truth=Truth(
        findings=frozenset(
            {("failed-run", "job:build_ltv"), ("stale-answer", "answer:ltv-report")}
        ),
        root=("failed-run", "job:build_ltv"),
        tier="P1",
        symptom="answer:ltv-report",
        causes=(Cause("FAILED", ("build_ltv", "FileNotFoundError", "legacy.orders")),),
        consumers=frozenset({"dataset:ltv", "answer:ltv-report"}),
        replay=(("job:build_ltv",),),
        answers=frozenset({"job:switch_off", "dataset:legacy.orders"}),
    ),
)
