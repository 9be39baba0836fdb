"""A connector lags behind its topic, and a report is made from a part of the data.

    topic.readings -> sink_readings -> readings -> build_totals -> totals
    totals -> energy-report (an answer)

The topic is one of a real Kafka, with three partitions and a consumer group that commits offsets.
Tonight the store is slow, so sink_readings takes few records of each partition. No run fails. The
offsets of the run show how far it came, and where it has to begin again.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.topic import PARTITIONS, stream_facet
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop

NIGHTS = 8
RECORDS = 12_000
# Records of one partition that a run takes: on a regular night, and while the store is slow.
CAPACITY, SLOW_CAPACITY = 5_000, 300
METERS = 100
TOPIC = "topic.readings"
READINGS = {"meter": "int", "kwh": "double"}
TOTALS = {"meter": "int", "kwh": "double"}
_STREAMS = """
query Streams($runId: ID!) {
  run(runId: $runId) {
    streams { dataset { name } lag partitions { partition begin end latest lag } }
  }
}
"""


def raw_readings(night: int) -> Rows:
    """Return the readings of a night: each meter as often as any other."""
    return [
        {"meter": number % METERS, "kwh": 1.0 + (number + night) % 7 / 10}
        for number in range(RECORDS)
    ]


def sink(records: Rows) -> Rows:
    """Copy the records."""
    return [dict(row) for row in records]


def totals(readings: Rows) -> Rows:
    """Return the total of each meter."""
    sums: dict[int, float] = {}
    for row in readings:
        sums[row["meter"]] = sums.get(row["meter"], 0.0) + row["kwh"]
    return [{"meter": meter, "kwh": round(total, 3)} for meter, total in sorted(sums.items())]


SINK = Job(
    "sink_readings",
    (TOPIC,),
    "readings",
    sink,
    READINGS,
    {name: [(TOPIC, name)] for name in READINGS},
    owner="team:platform",
)
BUILD = Job(
    "build_totals",
    ("readings",),
    "totals",
    totals,
    TOTALS,
    {name: [("readings", name)] for name in TOTALS},
    owner="team:energy",
)


def publish(shop: Workshop, night: int) -> None:
    rows = raw_readings(night)
    shop.deliver(TOPIC, rows, READINGS, shop.night(night))
    shop.topics.open(TOPIC).publish(rows)


def batch(shop: Workshop, night: int, minute: float = 0, *, capacity: int = CAPACITY) -> None:
    records, offsets = shop.topics.open(TOPIC).poll(capacity)
    shop.write(TOPIC, records)
    facets = {TOPIC: stream_facet(offsets)}
    shop.run(SINK, shop.night(night, minute + 5), input_facets=facets)
    shop.run(BUILD, shop.night(night, minute + 10))
    when = shop.night(night, minute + 15)
    shop.answer("energy-report", f"The energy of night {night}.", "totals", when, "team:energy")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        publish(shop, night)
        batch(shop, night)


def inject(shop: Workshop) -> None:
    publish(shop, 0)
    batch(shop, 0, capacity=SLOW_CAPACITY)
    shop.replay_from("job:sink_readings")


def show_offsets(stage: Stage) -> None:
    """Ask which offsets the lagging run read, and how much it left."""
    run_id = stage.workshop.runs["sink_readings"][-1]
    begin, latest = NIGHTS * RECORDS // PARTITIONS, (NIGHTS + 1) * RECORDS // PARTITIONS
    end = begin + SLOW_CAPACITY
    with stage.step("offsets", "which connector lags, at which offsets") as step:
        [stream] = stage.backend.ask_text(_STREAMS, {"runId": run_id})["run"]["streams"]
        step.expected = {
            "topic": TOPIC,
            "lag": PARTITIONS * (latest - end),
            "partitions": [[number, begin, end, latest] for number in range(PARTITIONS)],
        }
        step.found = {
            "topic": stream["dataset"]["name"],
            "lag": stream["lag"],
            "partitions": [
                [one["partition"], one["begin"], one["end"], one["latest"]]
                for one in stream["partitions"]
            ],
        }
        step.ok = step.found == step.expected
        for number, first, next_one, last in step.found["partitions"]:
            step.lines.append(f"{TOPIC}[{number}]: read {first} to {next_one} of {last}")
        step.lines.append(f"lag {stream['lag']} records")


def repair(shop: Workshop) -> None:
    shop.topics.open(TOPIC).rewind()
    batch(shop, 0, minute=60)


def compare_totals(stage: Stage) -> None:
    found = stage.workshop.read("totals")
    expected = totals(raw_readings(0))
    compare_tables(
        stage,
        "the totals of tonight, by hand and from the offsets of the lagging run",
        {
            "readings": (RECORDS, len(stage.workshop.read("readings"))),
            "meters": (METERS, len(found)),
            "kwh": (
                round(sum(row["kwh"] for row in expected), 1),
                round(sum(row["kwh"] for row in found), 1),
            ),
        },
    )


STORY = Story(
    name="lagging-stream",
    title="A connector lags behind its topic",
    fault="sink_readings takes 300 records of each partition, in place of 4,000",
    repaired="sink_readings begins again at the offsets of the lagging run",
    origin="seed 2, L96",
    prepare=prepare,
    inject=inject,
    examine=show_offsets,
    repair=repair,
    verify=compare_totals,
    truth=Truth(
        findings=frozenset(
            {
                ("stream-lag", "job:sink_readings"),
                ("row-count", "dataset:readings"),
                ("mean", "dataset:totals"),
            }
        ),
        root=("stream-lag", "job:sink_readings"),
        tier="P1",
        symptom="dataset:totals",
        causes=(Cause("ROW_COUNT_OUTLIER", ("readings has 900 rows", "12000")),),
        consumers=frozenset(
            {"dataset:readings", "job:build_totals", "dataset:totals", "answer:energy-report"}
        ),
        replay=(("job:sink_readings",), ("job:build_totals",)),
        answers=frozenset({"job:sink_readings"}),
    ),
)
