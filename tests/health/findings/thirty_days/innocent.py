"""The forty innocent changes. Each function says why it harms nobody, and edits the plan.

None of them may raise a finding, save `quick_retry`: its finding ends before anybody is alerted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from headwater.schema import headwater_facets as native
from tests.health.findings.thirty_days.plan import (
    DAYS,
    MINUTE,
    Delivery,
    Output,
    Plan,
    Run,
    at,
    text,
)
from tests.health.findings.thirty_days.problems import again, fail
from tests.health.findings.thirty_days.shop import SCHEMAS, is_workday, same
from tests.run_builders import FACET

CHANGES: list[Callable[[Plan], None]] = []


def innocent(edit: Callable[[Plan], None]) -> Callable[[Plan], None]:
    CHANGES.append(edit)
    return edit


def _reshape(plan: Plan, job: str, first: int, schema: dict[str, str]) -> None:
    for run in plan.each(job, first):
        run.outputs = [replace(run.output, schema=dict(schema))]


@innocent
def new_column(plan: Plan) -> None:
    """prices gets a column; whoever reads named columns is not affected."""
    _reshape(plan, "load_prices", 8, {**SCHEMAS["prices"], "currency": "string"})


@innocent
def unread_column_dropped(plan: Plan) -> None:
    """orders loses legacy_flag, which no reader uses by its column lineage."""
    kept = {name: kind for name, kind in SCHEMAS["orders"].items() if name != "legacy_flag"}
    _reshape(plan, "load_orders", 8, kept)


@innocent
def widened_integer(plan: Plan) -> None:
    """The quantity of stock_report is a long instead of an int: every value still fits."""
    _reshape(plan, "report_stock", 8, {"sku": "string", "quantity": "long"})


@innocent
def longer_text(plan: Plan) -> None:
    """The city of a customer may have 40 instead of 20 characters: every value still fits."""
    _reshape(plan, "load_customers", 10, {**SCHEMAS["customers"], "city": "varchar(40)"})


@innocent
def other_order_of_columns(plan: Plan) -> None:
    """stock has its columns in another order; their names and types are as before."""
    _reshape(plan, "load_stock", 13, {"quantity": "int", "sku": "string"})


@innocent
def retry_of_the_same_run(plan: Plan) -> None:
    """A run fails and starts again under its own id; its last attempt succeeds a minute later."""
    run = plan.runs["load_stock", 7]
    run.earlier = (("FAIL", 1), ("START", 2))


@innocent
def quick_retry(plan: Plan) -> None:
    """A new run replaces the failed one after half a minute, before anybody is alerted."""
    run = plan.runs["load_returns", 6]
    second = again(run, 6, "02:31:10")
    second.minutes = 0.25
    plan.add(second)
    fail(run, "deadlock")


@innocent
def weekends_without_budget(plan: Plan) -> None:
    """load_budget runs from Monday to Friday, so nobody waits for it on Saturday."""
    assert not any((job, 6) in plan.runs for job in ("load_budget",))
    assert all(("load_budget", day) in plan.runs for day in range(1, 6) if is_workday(day))


@innocent
def slow_mondays(plan: Plan) -> None:
    """build_features computes everything on Mondays, and takes 30 instead of 10 minutes."""
    for day in range(1, DAYS + 1, 7):
        plan.runs["build_features", day].minutes = 30


@innocent
def steady_growth(plan: Plan) -> None:
    """The orders of a day grow by 1 % a day: no day stands out from the ten before it."""
    for day in range(1, 19):
        plan.runs["load_orders", day].output.rows = round(10000 * 1.01**day)
    for day in range(20, DAYS + 1):
        plan.runs["load_orders", day].output.rows = round(10000 * 1.01**day)


@innocent
def new_job(plan: Plan) -> None:
    """From day 20 on export_feed writes a new dataset."""
    for day in range(20, DAYS + 1):
        plan.add(
            Run(
                "export_feed",
                f"export_feed-{day:02}",
                at(day, "07:00"),
                inputs=["revenue"],
                outputs=[Output("partner_feed", {"branch": "string"}, same("revenue", "branch"))],
                owner="team:finance",
            )
        )


@innocent
def new_reader(plan: Plan) -> None:
    """From day 9 on an analysis reads the prices."""
    for day in range(9, DAYS + 1):
        plan.add(
            Run(
                "analyse_prices",
                f"analyse_prices-{day:02}",
                at(day, "07:10"),
                inputs=["prices"],
                outputs=[Output("price_trend", {"price": "double"}, same("prices", "price"))],
                owner="team:pricing",
            )
        )


@innocent
def renamed_owner(plan: Plan) -> None:
    """team:pricing is called team:commerce from day 14 on."""
    for run in plan.each("load_prices", 14):
        run.owner = "team:commerce"


@innocent
def end_before_start(plan: Plan) -> None:
    """The end of a run arrives before its start."""
    plan.runs["load_returns", 10].delays = (20 * MINUTE, timedelta(0))


@innocent
def late_events(plan: Plan) -> None:
    """Both events of a run arrive five hours late; their times are right."""
    plan.runs["audit_returns", 11].delays = (timedelta(hours=5), timedelta(hours=5))


@innocent
def duplicates(plan: Plan) -> None:
    """A client sends each event of one night three times."""
    for job in ("load_orders", "load_returns", "build_lines", "build_revenue"):
        plan.runs[job, 13].copies = 3


@innocent
def aborted_run(plan: Plan) -> None:
    """Somebody starts the export by hand at noon and stops it."""
    run = again(plan.runs["nightly_export", 16], 16, "12:00", "-by-hand")
    run.status, run.minutes = "ABORT", 2
    plan.add(run)


@innocent
def failure_that_nobody_needs(plan: Plan) -> None:
    """An experiment fails on three days; nobody reads its output."""
    for day in (8, 9, 10):
        run = Run("dev_experiment", f"dev_experiment-{day}", at(day, "10:00"), owner="ann")
        run.inputs, run.outputs = ["prices"], [Output("dev_scratch")]
        fail(run, "still wrong")
        plan.add(run)


@innocent
def one_off_backfill(plan: Plan) -> None:
    """A backfill runs once and never again."""
    plan.add(
        Run(
            "backfill_archive",
            "backfill_archive-1",
            at(16, "09:00"),
            180,
            inputs=["raw.orders"],
            outputs=[Output("orders_archive", {"order_id": "long"}, rows=900000)],
            owner="team:shop",
        )
    )


@innocent
def released_version(plan: Plan) -> None:
    """From day 18 on audit_returns runs other SQL, and its version says so."""
    for run in plan.each("audit_returns", 18):
        run.sql, run.version = "INSERT OVERWRITE returns_audit SELECT order_id FROM r", "1.1"


@innocent
def lookup_without_rhythm(plan: Plan) -> None:
    """The table of countries is written when a country changes: nobody knows when it is due."""
    for number, day in enumerate((1, 2, 6, 7, 12, 13, 22)):
        plan.add(
            Run(
                "load_countries",
                f"load_countries-{number}",
                at(day, f"{8 + number}:00"),
                inputs=["raw.orders"],
                outputs=[Output("countries", {"country": "string"}, rows=200 + number)],
                owner="team:shop",
            )
        )


@innocent
def summer_time(plan: Plan) -> None:
    """nightly_export runs at 06:00 in Berlin: at 05:00 UTC, from day 28 on at 04:00 UTC."""
    for day in range(28, DAYS + 1):
        plan.runs["nightly_export", day].start = at(day, "04:00")


@innocent
def noisy_nulls(plan: Plan) -> None:
    """The share of nulls in the e-mails moves from 2.0 % to 2.3 % for a day."""
    plan.runs["load_customers", 17].output.measures["email"]["nullCount"] = 46


@innocent
def a_few_more_cities(plan: Plan) -> None:
    """Two new cities: 82 instead of 80 distinct values is 2.5 %, within 5 %."""
    for run in plan.each("load_customers", 18):
        run.output.measures["city"]["distinctCount"] = 82


@innocent
def slightly_longer_tenure(plan: Plan) -> None:
    """The mean tenure is 1 % higher than usual for a day."""
    features = plan.runs["build_features", 17].output
    features.measures = {"tenure": {"nullCount": 0, "count": 2000, "sum": 2000 * 40.4}}


@innocent
def stopped_job(plan: Plan) -> None:
    """old_report runs daily until day 10; then it is deprecated and does not run again."""
    for day in range(1, 11):
        plan.add(
            Run(
                "old_report",
                f"old_report-{day:02}",
                at(day, "07:30"),
                inputs=["prices"],
                outputs=[Output("old_numbers", {"price": "double"}, same("prices", "price"))],
                owner="team:pricing",
            )
        )
    when = at(10, "16:00")
    for name, namespace, is_job in (("old_report", "etl", True), ("old_numbers", "db", False)):
        plan.send(
            when,
            native.deprecation_event(
                namespace,
                name,
                reason="Nobody needs it.",
                is_job=is_job,
                by="ann",
                event_time=text(when),
            ),
        )


@innocent
def deleted_job(plan: Plan) -> None:
    """tmp_copy runs daily until day 9; then it and its output are deleted."""
    for day in range(1, 10):
        plan.add(
            Run(
                "tmp_copy",
                f"tmp_copy-{day:02}",
                at(day, "07:40"),
                inputs=["prices"],
                outputs=[Output("tmp_prices", dict(SCHEMAS["prices"]))],
                owner="ann",
            )
        )
    when = at(9, "16:00")
    for name, namespace, is_job in (("tmp_copy", "etl", True), ("tmp_prices", "db", False)):
        plan.send(
            when,
            native.deletion_event(namespace, name, is_job=is_job, by="ann", event_time=text(when)),
        )


@innocent
def job_by_hand(plan: Plan) -> None:
    """ann extracts prices now and then: no rhythm, so no run is missing."""
    for number, (day, time) in enumerate(
        [(2, "09:00"), (2, "15:00"), (5, "11:00"), (12, "10:00"), (13, "08:00"), (24, "16:00")]
    ):
        plan.add(
            Run(
                "extract_prices",
                f"extract_prices-{number}",
                at(day, time),
                inputs=["prices"],
                outputs=[Output("extract", {"price": "double"})],
                owner="ann",
            )
        )


@innocent
def second_name_of_a_source(plan: Plan) -> None:
    """From day 16 on load_orders names its source by an alias, with a symlink to the name before."""
    alias = {
        "namespace": "db",
        "name": "shop.raw.orders",
        "facets": {
            "symlinks": {
                **FACET,
                "identifiers": [{"namespace": "db", "name": "raw.orders", "type": "TABLE"}],
            }
        },
    }
    for run in plan.each("load_orders", 16):
        run.inputs = [alias]


@innocent
def one_more_input(plan: Plan) -> None:
    """From day 18 on build_features also reads the countries; it still reads all it read before."""
    for run in plan.each("build_features", 18):
        run.inputs = [*run.inputs, "countries"]


@innocent
def one_input_fewer(plan: Plan) -> None:
    """audit_returns also read the prices until day 8; no other dataset takes their place."""
    for run in plan.each("audit_returns", 1, 8):
        run.inputs = [*run.inputs, "prices"]


@innocent
def new_words_about_a_job(plan: Plan) -> None:
    """The description of a job changes; its code does not."""
    for run in plan.each("build_revenue", 20):
        run.job_facets = {"documentation": {"description": "Revenue of the day before."}}


@innocent
def new_tag(plan: Plan) -> None:
    """A steward tags the addresses of the customers as personal data; no feature uses them."""
    when = at(13, "13:00")
    tag = {"key": "pii", "value": "email", "field": "email"}
    event = native.tag_edits_event("db", "customers", added=[tag], by="ann", event_time=text(when))
    plan.send(when, event)


@innocent
def new_check(plan: Plan) -> None:
    """A check is added to the revenue, and passes."""
    for run in plan.each("check_revenue", 14):
        run.checks["fifty_branches"] = True


@innocent
def later_start(plan: Plan) -> None:
    """A run starts three hours late, within the grace of half a day."""
    plan.runs["audit_returns", 20].start = at(20, "08:30")


@innocent
def run_by_hand(plan: Plan) -> None:
    """Somebody runs the load of the stock once more in the afternoon."""
    plan.add(again(plan.runs["load_stock", 26], 26, "14:00"))


@innocent
def pinned_answer(plan: Plan) -> None:
    """An answer cites the revenue of day 3 by its version: it means that day, for ever."""
    when = at(4, "12:00")
    event = native.answer_event(
        "budget-speech",
        cites=[{"namespace": "db", "name": "revenue", "runId": "build_revenue-03"}],
        generated_at=text(when),
        content="As of day 3.",
    )
    plan.send(when, event)


@innocent
def early_delivery(plan: Plan) -> None:
    """The file of customers of 2024 arrives days before its first reader."""
    delivery = Delivery("raw.customers_2024", at(22, "11:00"), dict(SCHEMAS["customers"]))
    plan.deliveries["raw.customers_2024", 22] = delivery


@innocent
def flow_of_tasks(plan: Plan) -> None:
    """The flow around the revenue has no data of its own; its tasks have.

    It fails with its task on day 12, which is reported once, as the failure of the task.
    """
    for day in range(1, DAYS + 1):
        flow = Run("finance_flow", f"finance_flow-{day:02}", at(day, "02:59"), 41)
        flow.owner = "team:finance"
        if day == 12:
            fail(flow, "a task failed", 41)
        plan.add(flow)
        for job in ("build_lines", "build_revenue"):
            plan.runs[job, day].parent = (flow.id, flow.job)


@innocent
def newer_client(plan: Plan) -> None:
    """From day 15 on the clients of one team are of a newer version."""
    for run in plan.each("load_stock", 15):
        run.producer = "https://example.com/p/1.54"
