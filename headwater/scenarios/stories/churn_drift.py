"""A model of customer churn loses 12 % of its F1, and the cause is two tables upstream.

    customers_2023 -> extract_customers -> customers -> build_features -> churn_features
    churn_features -> train_churn -> churn_model (a model, cited by the answer retention-report)

Tonight the extraction goes over to customers_2024; customers_2023 still arrives. Somebody sees the
bad F1 and runs everything again, which does not help. The new table has a new column, is_active,
and no customer_tenure for the 34 % of customers who are inactive. The job turns a missing tenure
into 0, so the mean falls from 24.3 to 18.7 months. The numbers are those of seed 3, L507 to L547.

The model is a threshold on the tenure, and its F1 is measured on every row:

| customers | active | tenure | predicted to leave | leave |
|---|---|---|---|---|
| 203 | no | 8 | yes | 183 |
| 137 | no | 29 | no, yes with a tenure of 0 | 0 |
| 297 | yes | 10 | yes | 262 |
| 363 | yes | 43 | no | 55 |
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Row, Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop, select

NIGHTS = 10
THRESHOLD = 18
# Customers, active, sum of their tenures, how many leave.
GROUPS = (
    (203, False, 1624, 183),
    (137, False, 3976, 0),
    (297, True, 2970, 262),
    (363, True, 15730, 55),
)
TYPES_2023 = {
    "customer_id": "int",
    "customer_tenure": "int",
    "days_since_signup": "int",
    "left": "int",
}
TYPES_2024 = {**TYPES_2023, "is_active": "boolean"}
CUSTOMERS = {"customer_id": "int", "tenure": "int", "days_since_signup": "int", "left": "int"}
FEATURES = {"customer_id": "int", "tenure": "double", "left": "int"}
MODEL = {"threshold": "int", "f1": "double"}


def population() -> Rows:
    """Return the customers of 2023, with whole numbers of months that add up to each sum."""
    rows: Rows = []
    for count, active, months, leaving in GROUPS:
        usual, rest = divmod(months, count)
        for number in range(count):
            tenure = usual + (number < rest)
            rows.append(
                {
                    "customer_id": len(rows) + 1,
                    "customer_tenure": tenure,
                    "days_since_signup": tenure * 30,
                    "left": int(number < leaving),
                    "is_active": active,
                }
            )
    return rows


def customers_2023(night: int) -> Rows:
    """Return the table of 2023; a few tenures grow from night to night."""
    rows = select(population(), TYPES_2023)
    for row in rows[-(night % 5) :] if night % 5 else []:
        row["customer_tenure"] += 1
    return rows


def customers_2024() -> Rows:
    """Return the table of 2024: inactive customers have no tenure."""
    return [
        {**row, "customer_tenure": row["customer_tenure"] if row["is_active"] else None}
        for row in population()
    ]


def extract(customers: Rows) -> Rows:
    """Copy the customers; a missing tenure becomes 0."""
    return [_customer(row, row["customer_tenure"] or 0) for row in customers]


def extract_with_signup(customers: Rows) -> Rows:
    """Copy the customers; a missing tenure comes from the days since the signup."""
    found = []
    for row in customers:
        tenure = row["customer_tenure"]
        found.append(_customer(row, row["days_since_signup"] // 30 if tenure is None else tenure))
    return found


def _customer(row: Row, tenure: int) -> Row:
    return {
        "customer_id": row["customer_id"],
        "tenure": tenure,
        "days_since_signup": row["days_since_signup"],
        "left": row["left"],
    }


def features(customers: Rows) -> Rows:
    """Return what the model learns from."""
    return select(customers, FEATURES)


def train(rows: Rows) -> Rows:
    """Return the model with its F1 on all rows."""
    return [{"threshold": THRESHOLD, "f1": round(f1(rows), 4)}]


def f1(rows: Rows) -> float:
    """Return the F1 of the prediction that customers below the threshold leave."""
    predicted = [row["tenure"] < THRESHOLD for row in rows]
    hits = sum(row["left"] for row, yes in zip(rows, predicted, strict=True) if yes)
    leaving: int = sum(row["left"] for row in rows)
    return float(2 * hits / (sum(predicted) + leaving))


def good_enough(rows: Rows) -> dict[str, bool]:
    """Check the F1 of the model."""
    return {"f1_at_least_0.85": rows[0]["f1"] >= 0.85}


def extraction(source: str, *, fixed: bool = False) -> Job:
    """Return the job that reads one of the two tables."""
    columns = {
        "customer_id": [(source, "customer_id")],
        "tenure": [(source, "customer_tenure")],
        "days_since_signup": [(source, "days_since_signup")],
        "left": [(source, "left")],
    }
    if fixed:
        columns["tenure"].append((source, "days_since_signup"))
    return Job(
        "extract_customers",
        (source,),
        "customers",
        extract_with_signup if fixed else extract,
        CUSTOMERS,
        columns,
        owner="team:crm",
        version="1.1" if fixed else "1.0",
    )


BUILD = Job(
    "build_features",
    ("customers",),
    "churn_features",
    features,
    FEATURES,
    {name: [("customers", name)] for name in FEATURES},
    owner="team:science",
)
TRAIN = Job(
    "train_churn",
    ("churn_features",),
    "churn_model",
    train,
    MODEL,
    {"f1": [("churn_features", "tenure"), ("churn_features", "left")]},
    owner="team:science",
    checks=good_enough,
    model=True,
)


def pipeline(shop: Workshop, night: int, extract_job: Job, minute: float = 2) -> None:
    for number, job in enumerate((extract_job, BUILD, TRAIN)):
        shop.run(job, shop.night(night, minute + 3 * number))


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        shop.deliver("customers_2023", customers_2023(night), TYPES_2023, shop.night(night))
        pipeline(shop, night, extraction("customers_2023"))
    when = shop.night(1, 45)
    content = "The model may choose whom to call."
    shop.answer("retention-report", content, "churn_model", when, "team:retention")


def inject(shop: Workshop) -> None:
    shop.deliver("customers_2023", customers_2023(0), TYPES_2023, shop.night(0))
    shop.deliver("customers_2024", customers_2024(), TYPES_2024, shop.night(0))
    for minute in (2, 20):
        pipeline(shop, 0, extraction("customers_2024"), minute)
    shop.replay_from("dataset:customers", shop.night(0))


def repair(shop: Workshop) -> None:
    pipeline(shop, 0, extraction("customers_2024", fixed=True), 40)


def compare_statistics(stage: Stage) -> None:
    good, bad = (_statistics(stage, number) for number in (NIGHTS - 1, NIGHTS))
    compare_tables(
        stage,
        "the statistics of the features, and the F1, before and after",
        {
            "mean tenure before": (24.3, good["mean"]),
            "mean tenure after": (18.7, bad["mean"]),
            "share of tenure 0 before": (0.0, good["zeros"]),
            "share of tenure 0 after": (0.34, bad["zeros"]),
            "F1 before": (0.89, good["f1"]),
            "F1 after": (0.78, bad["f1"]),
        },
    )


def _statistics(stage: Stage, number: int) -> dict[str, float]:
    shop = stage.workshop
    rows = shop.read_version("churn_features", shop.runs["build_features"][number])
    (model,) = shop.read_version("churn_model", shop.runs["train_churn"][number])
    tenures = [row["tenure"] for row in rows]
    return {
        "mean": round(sum(tenures) / len(tenures), 1),
        "zeros": tenures.count(0) / len(tenures),
        "f1": round(model["f1"], 2),
    }


def compare_recovery(stage: Stage) -> None:
    last = _statistics(stage, -1)
    compare_tables(
        stage,
        "the features and the F1 are as they were",
        {
            "mean tenure": (24.3, last["mean"]),
            "share of tenure 0": (0.0, last["zeros"]),
            "F1": (0.89, last["f1"]),
        },
    )


STORY = Story(
    name="churn-drift",
    title="A model loses 12 % of its F1",
    fault="the extraction reads customers_2024, where inactive customers have no tenure",
    repaired="a missing tenure now comes from the days since the signup; the jobs run again",
    origin="seed 3, L507-547",
    prepare=prepare,
    inject=inject,
    repair=repair,
    examine=compare_statistics,
    verify=compare_recovery,
    truth=Truth(
        findings=frozenset(
            {
                ("changed-input", "job:extract_customers"),
                ("mean", "dataset:customers"),
                ("mean", "dataset:churn_features"),
                ("mean", "dataset:churn_model"),
                ("distinct-count", "dataset:customers"),
                ("distinct-count", "dataset:churn_features"),
                ("failed-check", "dataset:churn_model"),
            }
        ),
        root=("changed-input", "job:extract_customers"),
        tier="P1",
        symptom="dataset:churn_model",
        causes=(
            Cause("INPUT_CHANGED", ("customers_2023", "customers_2024")),
            Cause("SCHEMA_CHANGED", ("customers_2024", "is_active")),
            Cause("COLUMN_MEASURE_CHANGED", ("tenure", "18.7")),
        ),
        consumers=frozenset(
            {
                "dataset:customers",
                "job:build_features",
                "dataset:churn_features",
                "job:train_churn",
                "dataset:churn_model",
                "answer:retention-report",
            }
        ),
        # Both attempts have to run again, each job after its own run before.
        replay=(
            ("job:extract_customers",),
            ("job:build_features", "job:extract_customers"),
            ("job:build_features", "job:train_churn"),
            ("job:train_churn",),
        ),
        answers=frozenset({"dataset:customers_2024", "job:extract_customers"}),
    ),
)
