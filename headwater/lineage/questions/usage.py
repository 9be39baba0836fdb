"""The usage of a dataset, its cost, and the datasets that nobody uses.

A dataset is used when a run reads a version of it or an answer cites one. Cost is counted in
seconds of runs. The duration of a run is split evenly among the datasets that it read, and the
share of this dataset is charged to the job. The cost of a job is split evenly among its owners.
Rows and bytes are as reported by the runs. A run that has not ended costs nothing yet. Runs that
were rolled up (docs/how-to/pipelines.md) count if their day lies in the window, without rows and
bytes. If more than RUNS_MAX runs began in the window, the newest count and `truncated` is True.

A dataset is unused if it was known before the window and is not dropped, no run that read it was
under way in the window, and no answer of the window cites it. Hidden runs and answers count too,
because data that others read must not be deleted. Consumers, last reads and cost cover visible
nodes only. A run that began before the window and was under way in it is searched among the last
thousand runs of its job before the window.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import require_node
from headwater.lineage.pagination import (
    Page,
    cut_page,
    decode_cursor,
    encode_cursor,
    last_days,
    page_request,
    require_page_size,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

DAYS_DEFAULT = 30
# Limits for one dataset; the costliest consumers and the newest answers and runs are read.
CONSUMERS_MAX = 5_000
ANSWERS_MAX = 1_000
RUNS_MAX = 20_000
_LARGEST = 2**63 - 1
# The elements of a consumer in the row of read/estate/consumers.
_CONSUMER_KEYS = ("job", "owners", "examined", "runs", "lastRead", "rows", "bytes", "seconds")


@dataclass(frozen=True)
class Consumer:
    """A job that read a dataset: its reading runs, and the reported rows, bytes and seconds."""

    job: str
    owners: list[str]
    runs: int
    last_read_at: datetime | None
    rows: int | None
    bytes: int | None
    seconds: float


@dataclass(frozen=True)
class CostShare:
    """The cost of the jobs of one owner; `owner` is None for jobs without an owner."""

    owner: str | None
    jobs: int
    seconds: float


@dataclass(frozen=True)
class Usage:
    """The consumers of a dataset in a time window, costliest first, and the answers, newest first.

    `truncated`: a limit on consumers, answers or runs was reached.
    """

    dataset: str
    since: datetime
    until: datetime
    consumers: list[Consumer]
    answers: list[str]
    truncated: bool

    @property
    def runs(self) -> int:
        return sum(consumer.runs for consumer in self.consumers)

    @property
    def seconds(self) -> float:
        return sum(consumer.seconds for consumer in self.consumers)


@dataclass(frozen=True)
class Unused:
    """An unused dataset.

    `bytes` is the reported size of its newest complete version. `last_read_at` is the start of the
    last visible run that read it, None without one.
    """

    dataset: str
    bytes: int | None
    last_read_at: datetime | None


@dataclass(frozen=True)
class UnusedPage:
    """A page of unused datasets, largest first.

    `count`, `bytes` and `unknown_size_count` cover the whole list.
    """

    page: Page[Unused]
    count: int
    bytes: int
    unknown_size_count: int


def usage(
    view: GraphView, urn: str, *, days: int = DAYS_DEFAULT, now: datetime | None = None
) -> Usage:
    """Return the usage of a dataset in the last days.

    Raises NotFoundError without a visible dataset, QueryError for a bad urn or number of days.
    """
    if parse_urn(urn).kind != "dataset":
        raise QueryError(
            f"urn {urn[:80]!r} is not that of a dataset", hint="Write dataset:<namespace>:<name>."
        )
    since, until = last_days(now, days)
    dataset = str(require_node(view, urn)["urn"])
    window: dict[str, Any] = {
        "urn": dataset,
        "since": since,
        "until": until,
        "visible": view.visibility.regexes,
    }
    examined = _read_consumers(view, window)
    summaries = view.read("read/estate/consumers_rolled_up", **window, limit=CONSUMERS_MAX + 1)
    consumers = _add_summaries([row for row in examined if row["runs"]], summaries)
    answers = view.read("read/estate/answers_citing_dataset", **window, limit=ANSWERS_MAX + 1)
    runs = sum(row["examined"] for row in examined)
    return Usage(
        dataset=dataset,
        since=since,
        until=until,
        consumers=[_consumer(row) for row in consumers[:CONSUMERS_MAX]],
        answers=select_visible(view, [row["urn"] for row in answers[:ANSWERS_MAX]]),
        truncated=max(len(examined), len(consumers)) > CONSUMERS_MAX
        or len(answers) > ANSWERS_MAX
        or runs > RUNS_MAX,
    )


def _read_consumers(view: GraphView, window: dict[str, Any]) -> list[Row]:
    """Read the jobs that may have read a dataset, each with the number of runs examined."""
    [row] = view.read(
        "read/estate/consumers", **window, runsMax=RUNS_MAX + 1, limit=CONSUMERS_MAX + 1
    )
    return [dict(zip(_CONSUMER_KEYS, values, strict=True)) for values in row["consumers"]]


def consumers_page(
    usage: Usage,
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Page[Consumer]:
    """Return a page of consumers, costliest first. Raises QueryError for a bad cursor."""
    return cut_page(
        usage.consumers,
        lambda consumer: (-consumer.seconds, consumer.job),
        page_request(first, after, last, before),
        shape=(0.0, ""),
    )


def chargeback(consumers: Iterable[Consumer]) -> list[CostShare]:
    """Return the cost of each owner, largest first; the owners of a job share its time evenly."""
    seconds: dict[str | None, float] = defaultdict(float)
    jobs: dict[str | None, int] = defaultdict(int)
    for consumer in consumers:
        owners: list[str | None] = [*consumer.owners] or [None]
        for owner in owners:
            seconds[owner] += consumer.seconds / len(owners)
            jobs[owner] += 1
    shares = [CostShare(owner, jobs[owner], seconds[owner]) for owner in seconds]
    return sorted(
        shares, key=lambda share: (-share.seconds, share.owner is None, share.owner or "")
    )


def unused(
    view: GraphView,
    *,
    days: int = DAYS_DEFAULT,
    namespace: str = "",
    first: int = 20,
    after: str | None = None,
    now: datetime | None = None,
) -> UnusedPage:
    """Return a page of the datasets unused in the last days, largest first, unknown sizes last.

    Raises QueryError for a bad `first`, cursor or number of days.
    """
    require_page_size(first)
    since, _ = last_days(now, days)
    cursor = decode_cursor(after, (0, "")) if after else (_LARGEST, "")
    visible = view.visibility.regexes
    [row] = view.read(
        "read/estate/unused_datasets",
        since=since,
        namespace=namespace,
        visible=visible,
        cursorBytes=cursor[0],
        cursorUrn=cursor[1],
        limit=first + 1,
    )
    shown = row["page"][:first]
    urns = [dataset["urn"] for dataset in shown]
    last_reads = {
        read["urn"]: read["lastRead"]
        for read in view.read("read/estate/last_reads", urns=urns, visible=visible)
    }
    entries = [
        Unused(dataset["urn"], dataset["bytes"], last_reads.get(dataset["urn"]))
        for dataset in shown
    ]
    return UnusedPage(
        page=Page(
            entries, [_cursor(entry) for entry in entries], len(row["page"]) > first, bool(after)
        ),
        count=row["count"],
        bytes=row["bytes"] or 0,
        unknown_size_count=row["unknown_size_count"],
    )


def _cursor(entry: Unused) -> str:
    return encode_cursor(-1 if entry.bytes is None else entry.bytes, entry.dataset)


def _add_summaries(rows: list[Row], summaries: list[Row]) -> list[Row]:
    """Add the summaries of older runs to the consumers; summaries hold no rows and bytes."""
    by_job = {row["job"]: row for row in rows}
    for summary in summaries:
        row = by_job.setdefault(summary["job"], {**summary, "runs": 0, "seconds": 0.0})
        row["runs"] += summary["runs"]
        row["seconds"] += summary["seconds"]
        times = (row["lastRead"], summary["lastRead"])
        row["lastRead"] = max(time for time in times if time is not None)
    return sorted(by_job.values(), key=lambda row: (-row["seconds"], row["job"]))


def _consumer(row: Row) -> Consumer:
    return Consumer(
        job=row["job"],
        owners=sorted(set(row["owners"] or ())),
        runs=row["runs"],
        last_read_at=row["lastRead"],
        rows=row["rows"],
        bytes=row["bytes"],
        seconds=row["seconds"],
    )
