"""A pull request renames a column, and is merged though the gate refuses it.

    raw_orders -> stg_orders -> revenue -> revenue-report (an answer)
                  stg_orders -> ltv -> ltv-report (an answer)

The models are SQL files in a git repository. The pull request names amount total_amount. The gate
names both models that would break. The repair is a second pull request, which keeps the old name
beside the new one, and which the gate passes.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.project import Model, Project, Verdict
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Workshop

NIGHTS = 8
BLOCKED = 2
RENAMING, KEEPING = "rename-amount", "keep-amount"
RAW = {"order_id": "int", "branch": "string", "customer": "string", "amount": "double"}
STAGING = Model(
    "stg_orders",
    ("raw_orders",),
    {**RAW, "total_amount": "double"},
    {**{name: [("raw_orders", name)] for name in RAW}, "total_amount": [("raw_orders", "amount")]},
    owner="team:shop",
)
REVENUE = Model(
    "revenue",
    ("stg_orders",),
    {"branch": "string", "revenue": "double"},
    {"branch": [("stg_orders", "branch")], "revenue": [("stg_orders", "amount")]},
    owner="team:finance",
)
LTV = Model(
    "ltv",
    ("stg_orders",),
    {"customer": "string", "ltv": "double"},
    {"customer": [("stg_orders", "customer")], "ltv": [("stg_orders", "amount")]},
    owner="team:growth",
)
SQL = {
    "stg_orders": """\
select order_id, branch, customer, amount
from {{ source('shop', 'raw_orders') }}
""",
    "revenue": """\
select branch, sum(amount) as revenue
from {{ ref('stg_orders') }}
group by branch
order by branch
""",
    "ltv": """\
select customer, sum(amount) as ltv
from {{ ref('stg_orders') }}
group by customer
order by customer
""",
}
RENAMED = {"stg_orders": SQL["stg_orders"].replace("amount", "amount as total_amount")}
KEPT = {"stg_orders": SQL["stg_orders"].replace("amount", "amount, amount as total_amount")}


def raw_orders(night: int) -> Rows:
    """Return the orders of a night."""
    return [
        {
            "order_id": number,
            "branch": f"B{number % 5}",
            "customer": f"C{number % 40:02}",
            "amount": 10.0 + (number * 3 + night) % 20,
        }
        for number in range(200)
    ]


def project(shop: Workshop) -> Project:
    """Return the repository of the story."""
    return Project(shop.folder / "repository")


def batch(shop: Workshop, night: int, minute: float = 0) -> None:
    """Run the models of the working tree; without new tables, the reports use the old ones."""
    models = project(shop)
    shop.run(models.job(STAGING), shop.night(night, minute + 5))
    shop.run(models.job(REVENUE), shop.night(night, minute + 10))
    shop.run(models.job(LTV), shop.night(night, minute + 11))
    when = shop.night(night, minute + 15)
    shop.answer("revenue-report", f"The revenue of night {night}.", "revenue", when, "team:finance")
    shop.answer("ltv-report", f"The values of night {night}.", "ltv", when, "team:growth")


def prepare(shop: Workshop) -> None:
    models = project(shop)
    models.create(SQL)
    models.propose(RENAMING, RENAMED)
    for night in range(NIGHTS, -1, -1):
        shop.deliver("raw_orders", raw_orders(night), RAW, shop.night(night))
        batch(shop, night)


def ask_gate(stage: Stage) -> None:
    """Let the gate assess the pull request before it is merged."""
    with stage.step("gate", "what the pull request would break") as step:
        verdict = _verdict(stage, RENAMING)
        step.expected = {"exitCode": 1, "breaks": ["job:ltv", "job:revenue"]}
        broken = [stage.short(urn) for urn in verdict.broken if urn.startswith("job:")]
        step.found = {"exitCode": verdict.exit_code, "breaks": broken}
        step.ok = step.found == step.expected
        step.lines += [line for line in verdict.comment.splitlines() if line]


def _verdict(stage: Stage, branch: str) -> Verdict:
    """Return the verdict; a gate that could not assess everything in time is asked again."""
    shop, target = stage.workshop, stage.target
    return stage.wait(
        lambda: project(shop).gate(branch, target.url, shop.namespace, target.api_key),
        lambda verdict: verdict.exit_code != BLOCKED,
    )


def inject(shop: Workshop) -> None:
    project(shop).merge(RENAMING)
    batch(shop, 0, minute=40)
    shop.replay_from("job:revenue")


def compare_with_gate(stage: Stage) -> None:
    """Compare the jobs that failed with those of the gate, and ask it about the repair."""
    failed = {one["urn"] for one in stage.findings() if one["rule"] == "failed-run"}
    with stage.step("prediction", "the gate named each job that failed") as step:
        step.expected = ["job:ltv", "job:revenue"]
        step.found = sorted(stage.short(urn) for urn in failed)
        step.ok = step.found == step.expected
    project(stage.workshop).propose(KEEPING, KEPT)
    with stage.step("gate", "the pull request of the repair") as step:
        verdict = _verdict(stage, KEEPING)
        step.expected = {"exitCode": 0, "breaks": []}
        step.found = {"exitCode": verdict.exit_code, "breaks": verdict.broken}
        step.ok = step.found == step.expected
        step.lines += [line for line in verdict.comment.splitlines() if line]


def repair(shop: Workshop) -> None:
    project(shop).merge(KEEPING)
    batch(shop, 0, minute=120)


def check_tables(stage: Stage) -> None:
    revenue, ltv = stage.workshop.read("revenue"), stage.workshop.read("ltv")
    total = sum(row["amount"] for row in raw_orders(0))
    compare_tables(
        stage,
        "both tables have the total of tonight again",
        {
            "revenue": (total, sum(row["revenue"] for row in revenue)),
            "ltv": (total, sum(row["ltv"] for row in ltv)),
            "customers": (40, len(ltv)),
        },
    )


STORY = Story(
    name="pull-request",
    title="A pull request is merged though the gate refuses it",
    fault="the branch rename-amount is merged, and the models run again",
    repaired="the branch keep-amount is merged: it has both names, and the models run again",
    origin="seed 4, lineage-verified changes",
    prepare=prepare,
    before_fault=ask_gate,
    inject=inject,
    examine=compare_with_gate,
    repair=repair,
    verify=check_tables,
    truth=Truth(
        findings=frozenset(
            {
                ("schema-drift", "dataset:stg_orders"),
                ("failed-run", "job:revenue"),
                ("failed-run", "job:ltv"),
                ("stale-answer", "answer:revenue-report"),
                ("stale-answer", "answer:ltv-report"),
            }
        ),
        root=("schema-drift", "dataset:stg_orders"),
        tier="P1",
        symptom="dataset:revenue",
        causes=(
            Cause("FAILED", ("revenue", "no such column: amount")),
            Cause("SCHEMA_CHANGED", ("stg_orders", "dropped: amount", "total_amount")),
        ),
        consumers=frozenset(
            {
                "job:revenue",
                "dataset:revenue",
                "answer:revenue-report",
                "job:ltv",
                "dataset:ltv",
                "answer:ltv-report",
            }
        ),
        replay=(("job:revenue",),),
        answers=frozenset({"dataset:stg_orders", "job:stg_orders"}),
    ),
)
