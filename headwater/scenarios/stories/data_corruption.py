"""Financial records are corrupt: since when, and which reports used them?

    raw.ledger -> load_ledger -> ledger -> build_positions -> positions -> month-close (an answer)
                                 ledger -> assess_risk -> risk -> risk-report (an answer)

Last night load_ledger was deployed again under its old version 2.3. The new code reads amounts
in USD as cents, so these are a hundred times too small. No run fails.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop

NIGHTS = 10
RECORDS = 300
LEDGER = {"entry_id": "int", "account": "string", "currency": "string", "amount": "double"}
POSITIONS = {"account": "string", "balance": "double"}
RISK = {"currency": "string", "exposure": "double"}


def raw_ledger(night: int) -> Rows:
    """Return the entries of a night; three tenths are in USD, and tonight half of them."""
    dollars = 5 if night == 0 else 3
    return [
        {
            "entry_id": number,
            "account": f"A{number % 20:02}",
            "currency": "USD" if number % 10 < dollars else "EUR",
            "amount": 100.0 + (number * 7 + night * 3) % 50,
        }
        for number in range(RECORDS)
    ]


def load(entries: Rows) -> Rows:
    """Copy the entries."""
    return [dict(row) for row in entries]


def load_cents(entries: Rows) -> Rows:
    """Copy the entries, and take the amounts in USD for cents."""
    return [
        {**row, "amount": row["amount"] / 100 if row["currency"] == "USD" else row["amount"]}
        for row in entries
    ]


def positions(ledger: Rows) -> Rows:
    """Return the balance of each account."""
    return _totals(ledger, "account", "balance")


def risk(ledger: Rows) -> Rows:
    """Return the exposure in each currency."""
    return _totals(ledger, "currency", "exposure")


def _totals(rows: Rows, key: str, total: str) -> Rows:
    sums: dict[str, float] = {}
    for row in rows:
        sums[row[key]] = sums.get(row[key], 0.0) + row["amount"]
    return [{key: name, total: round(value, 2)} for name, value in sorted(sums.items())]


def loading(*, broken: bool = False) -> Job:
    """Return the job; the broken code has the same version."""
    return Job(
        "load_ledger",
        ("raw.ledger",),
        "ledger",
        load_cents if broken else load,
        LEDGER,
        {name: [("raw.ledger", name)] for name in LEDGER},
        owner="team:finance",
        version="2.3",
    )


BUILD = Job(
    "build_positions",
    ("ledger",),
    "positions",
    positions,
    POSITIONS,
    {"account": [("ledger", "account")], "balance": [("ledger", "amount")]},
    owner="team:finance",
)
ASSESS = Job(
    "assess_risk",
    ("ledger",),
    "risk",
    risk,
    RISK,
    {"currency": [("ledger", "currency")], "exposure": [("ledger", "amount")]},
    owner="team:risk",
)


def batch(shop: Workshop, night: int, load_job: Job, minute: float = 0) -> None:
    shop.run(load_job, shop.night(night, minute + 5))
    shop.run(BUILD, shop.night(night, minute + 10))
    shop.run(ASSESS, shop.night(night, minute + 11))
    when = shop.night(night, minute + 20)
    books = f"The books of night {night} are closed."
    shop.answer("month-close", books, "positions", when, "team:finance")
    shop.answer("risk-report", f"The exposure of night {night}.", "risk", when, "team:risk")


def deliver(shop: Workshop, night: int) -> None:
    shop.deliver("raw.ledger", raw_ledger(night), LEDGER, shop.night(night))


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS + 1, 1, -1):
        deliver(shop, night)
        batch(shop, night, loading())


def inject(shop: Workshop) -> None:
    for night in (1, 0):
        deliver(shop, night)
        batch(shop, night, loading(broken=True))
    shop.replay_from("dataset:ledger", shop.night(1))


def repair(shop: Workshop) -> None:
    batch(shop, 0, loading(), minute=40)


def check_first_run(stage: Stage) -> None:
    """Compare the run at which the change began with the first corrupt run."""
    shop = stage.workshop
    urn = shop.urn("dataset:positions")
    found = stage.backend.ask("root_cause", urn=urn, since=None, first=20)["rootCause"]
    began = sorted(
        (one["occurredAt"], one["run"]["urn"])
        for one in found["candidates"]
        if one["kind"] == "CODE_CHANGED"
    )
    run = shop.runs["load_ledger"][NIGHTS]
    compare_tables(
        stage,
        "the earliest corrupt run",
        {"run": (f"run:{run}", began[0][1] if began else None)},
    )


def check_replayed(stage: Stage) -> None:
    """Compare the replayed tables with the right code, run on the same entries."""
    ledger = load(raw_ledger(0))
    shop = stage.workshop
    pairs = {
        "total of positions": (_sum(positions(ledger)), _sum(shop.read("positions"))),
        "rows of positions": (positions(ledger), shop.read("positions")),
        "rows of risk": (risk(ledger), shop.read("risk")),
    }
    with stage.step("data", "the replayed tables are what the right code writes") as step:
        step.expected = dict.fromkeys(pairs, True)
        step.found = {name: expected == found for name, (expected, found) in pairs.items()}
        step.ok = step.found == step.expected
        step.lines += [f"{name}: as expected" for name, same in step.found.items() if same]


def _sum(rows: Rows) -> float:
    return round(float(sum(row["balance"] for row in rows)), 2)


STORY = Story(
    name="data-corruption",
    title="Financial records are corrupt",
    fault="a job is deployed again under its old version, and reads amounts in USD as cents",
    repaired="the earlier code is back, and the jobs of the plan run again",
    origin="seed 2, L473-480",
    prepare=prepare,
    inject=inject,
    repair=repair,
    examine=check_first_run,
    verify=check_replayed,
    truth=Truth(
        findings=frozenset(
            {
                ("changed-code", "job:load_ledger"),
                ("mean", "dataset:ledger"),
                ("mean", "dataset:positions"),
                ("mean", "dataset:risk"),
            }
        ),
        root=("changed-code", "job:load_ledger"),
        tier="P2",
        symptom="dataset:positions",
        causes=(
            Cause("CODE_CHANGED", ("load_ledger",)),
            Cause("COLUMN_MEASURE_CHANGED", ("amount",)),
        ),
        consumers=frozenset(
            {
                "dataset:ledger",
                "job:build_positions",
                "dataset:positions",
                "job:assess_risk",
                "dataset:risk",
                "answer:month-close",
                "answer:risk-report",
            }
        ),
        # Two nights have to run again, each job after its own run of the night before.
        replay=(
            ("job:load_ledger",),
            ("job:assess_risk", "job:build_positions", "job:load_ledger"),
            ("job:assess_risk", "job:build_positions"),
        ),
        answers=frozenset({"job:load_ledger"}),
    ),
)
