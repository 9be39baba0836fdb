"""Messages with a wrong tag land in the wrong topic.

    raw.messages -> tag_messages -> messages
    messages -> route_payments -> topic.payments -> cash-report (an answer)
    messages -> route_refunds -> topic.refunds -> refund-report (an answer)

A change of the tagging rules, without a new version, tags half of the refunds as payments.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Row, Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop

NIGHTS = 10
RAW = {"message_id": "int", "kind": "string", "amount": "double"}
TAGGED = {"message_id": "int", "tag": "string", "amount": "double"}


def raw_messages(night: int) -> Rows:
    """Return 400 messages of a night; a quarter of them are refunds."""
    return [
        {
            "message_id": 1000 * night + number,
            "kind": "refund" if number % 4 == 0 else "payment",
            "amount": 10.0 + number // 4 % 20,
        }
        for number in range(400)
    ]


def tag(messages: Rows) -> Rows:
    """Tag each message with its kind."""
    return [_tagged(row, row["kind"]) for row in messages]


def tag_wrong(messages: Rows) -> Rows:
    """Tag each message; every second refund becomes a payment."""
    return [
        _tagged(row, "payment" if row["message_id"] % 8 == 0 else row["kind"]) for row in messages
    ]


def _tagged(row: Row, name: str) -> Row:
    return {"message_id": row["message_id"], "tag": name, "amount": row["amount"]}


def payments(messages: Rows) -> Rows:
    """Return the messages of the topic of payments."""
    return [row for row in messages if row["tag"] == "payment"]


def refunds(messages: Rows) -> Rows:
    """Return the messages of the topic of refunds."""
    return [row for row in messages if row["tag"] == "refund"]


def tagging(*, broken: bool = False) -> Job:
    """Return the job that tags; the broken rules have the same version."""
    columns = {"message_id": "message_id", "tag": "kind", "amount": "amount"}
    return Job(
        "tag_messages",
        ("raw.messages",),
        "messages",
        tag_wrong if broken else tag,
        TAGGED,
        {name: [("raw.messages", source)] for name, source in columns.items()},
        owner="team:platform",
        version="7",
    )


_COLUMNS = {name: [("messages", name)] for name in TAGGED}
PAYMENTS = Job(
    "route_payments", ("messages",), "topic.payments", payments, TAGGED, _COLUMNS, "team:platform"
)
REFUNDS = Job(
    "route_refunds", ("messages",), "topic.refunds", refunds, TAGGED, _COLUMNS, "team:platform"
)


def batch(shop: Workshop, night: int, tag_job: Job, minute: float = 0) -> None:
    shop.run(tag_job, shop.night(night, minute + 5))
    shop.run(PAYMENTS, shop.night(night, minute + 10))
    shop.run(REFUNDS, shop.night(night, minute + 11))
    when = shop.night(night, minute + 20)
    shop.answer("cash-report", f"The cash of night {night}.", "topic.payments", when, "team:cash")
    shop.answer("refund-report", f"Night {night}.", "topic.refunds", when, "team:service")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        shop.deliver("raw.messages", raw_messages(night), RAW, shop.night(night))
        batch(shop, night, tagging())


def inject(shop: Workshop) -> None:
    shop.deliver("raw.messages", raw_messages(0), RAW, shop.night(0))
    batch(shop, 0, tagging(broken=True))
    shop.replay_from("job:tag_messages")


def repair(shop: Workshop) -> None:
    batch(shop, 0, tagging(), minute=60)


def count_messages(stage: Stage) -> None:
    shop = stage.workshop
    compare_tables(
        stage,
        "each message is in its own topic again",
        {
            "payments": (300, len(shop.read("topic.payments"))),
            "refunds": (100, len(shop.read("topic.refunds"))),
        },
    )


STORY = Story(
    name="misrouted-data",
    title="Refunds land in the topic of payments",
    fault="the tagging rules change without a new version: half of the refunds become payments",
    repaired="the earlier rules are back, and the messages are routed again",
    origin="seed 2, L97",
    prepare=prepare,
    inject=inject,
    repair=repair,
    verify=count_messages,
    truth=Truth(
        findings=frozenset(
            {
                ("changed-code", "job:tag_messages"),
                ("row-count", "dataset:topic.payments"),
                ("row-count", "dataset:topic.refunds"),
                ("distinct-count", "dataset:topic.payments"),
                ("distinct-count", "dataset:topic.refunds"),
            }
        ),
        root=("changed-code", "job:tag_messages"),
        tier="P2",
        symptom="dataset:topic.refunds",
        causes=(
            Cause("ROW_COUNT_OUTLIER", ("topic.refunds has 50 rows", "100")),
            Cause("CODE_CHANGED", ("tag_messages",)),
        ),
        consumers=frozenset(
            {
                "dataset:messages",
                "job:route_payments",
                "dataset:topic.payments",
                "job:route_refunds",
                "dataset:topic.refunds",
                "answer:cash-report",
                "answer:refund-report",
            }
        ),
        replay=(("job:tag_messages",), ("job:route_payments", "job:route_refunds")),
        answers=frozenset({"job:tag_messages"}),
    ),
)
