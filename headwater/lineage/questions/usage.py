"""Who uses what, what that costs, and what nobody uses.

A dataset is used when a run reads a version of it, or an answer cites one. The cost of a consumer is in seconds of
runs: a run's time from start to end is split evenly among the datasets that it read, and the part of this dataset is
charged to the job; what is charged to a job is split evenly among its owners. Rows and bytes are those that the runs
say they read of it. A run that has not ended costs nothing yet. Of runs that were rolled up (docs/how-to/pipelines.md) those
count whose day lies in the window, without rows and bytes. Where more runs began in the window than can be looked at
while somebody waits (RUNS_MAX), the newest count, and the answer says that there are more.

A dataset is unused when it was known before the window, is not dropped, and in the window no run that read it was under
way (one that began earlier and still runs reads on), nor was an answer made that cites it. Whether it was read is
judged by everything, also by what whoever asks may not see: what others read must not be thrown away. Who reads, how
often and at what cost is told of what may be seen only. A run that began before the window and was under way in it is
looked for among the last thousand runs of its job that began before the window.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_visibility import keep_visible
from headwater.lineage.nodes import require_node
from headwater.lineage.pagination import (
    Page,
    cut_page,
    decode_cursor,
    encode_cursor,
    last_days,
    require_page_size,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

DAYS_DEFAULT = 30
# More consumers, answers or runs of one dataset than these are not read; the costliest, and the newest, are.
CONSUMERS_MAX = 5_000
ANSWERS_MAX = 1_000
RUNS_MAX = 20_000
_LARGEST = 2**63 - 1
# What a consumer is in the row of all of them.
_CONSUMER = ("job", "owners", "looked", "runs", "lastRead", "rows", "bytes", "seconds")


@dataclass(frozen=True)
class Consumer:
    """A job that read a dataset: in how many runs, when last, how much as far as that is told, for how many seconds."""

    job: str
    owners: list[str]
    runs: int
    last_read_at: datetime | None
    rows: int | None
    bytes: int | None
    seconds: float


@dataclass(frozen=True)
class CostShare:
    """What one owner's jobs used; `owner` is None for jobs that nobody owns."""

    owner: str | None
    jobs: int
    seconds: float


@dataclass(frozen=True)
class Usage:
    """Who used a dataset from `since` until `until`: consumers, the costliest first, and answers, the newest first.
    `truncated` when there are more of either than are read, or more runs than are counted (RUNS_MAX, the newest)."""

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
    """A dataset that nobody read. `bytes` of its newest complete version; None where nobody told. `last_read_at`: when the
    last run began that read any version of it, None for never (or out of sight)."""

    dataset: str
    bytes: int | None
    last_read_at: datetime | None


@dataclass(frozen=True)
class UnusedPage:
    """A page, the largest first; of the whole list how many there are, their bytes, and of how many none are told."""

    page: Page[Unused]
    count: int
    bytes: int
    unknown_size_count: int


def usage(
    view: GraphView, urn: str, *, days: int = DAYS_DEFAULT, now: datetime | None = None
) -> Usage:
    """Who used a dataset in the last so many days. Raises NotFoundError when it is not in the graph."""
    if parse_urn(urn).kind != "dataset":
        raise QueryError(
            f"urn {urn[:80]!r} is not that of a dataset", hint="Write dataset:<namespace>:<name>."
        )
    since, until = last_days(now, days)
    dataset = str(require_node(view, urn)["urn"])
    window: dict[str, Any] = {"urn": dataset, "since": since, "until": until}
    window["sees"] = view.visibility.regexes
    [found] = view.read(
        "read/estate/consumers", **window, most=RUNS_MAX + 1, limit=CONSUMERS_MAX + 1
    )
    looked = [dict(zip(_CONSUMER, consumer, strict=True)) for consumer in found["consumers"]]
    rows = _with_summaries(
        [row for row in looked if row["runs"]],
        view.read("read/estate/consumers_rolled_up", **window, limit=CONSUMERS_MAX + 1),
    )
    answers = view.read("read/estate/answers_citing_dataset", **window, limit=ANSWERS_MAX + 1)
    seen = keep_visible(view, [row["urn"] for row in answers[:ANSWERS_MAX]])
    truncated = (
        len(looked) > CONSUMERS_MAX or len(rows) > CONSUMERS_MAX or len(answers) > ANSWERS_MAX
    )
    truncated = truncated or sum(row["looked"] for row in looked) > RUNS_MAX
    return Usage(
        dataset, since, until, [_consumer(row) for row in rows[:CONSUMERS_MAX]], seen, truncated
    )


def consumers_page(found: Usage, *, first: int, after: str | None) -> Page[Consumer]:
    """A page of consumers, the costliest first. Raises QueryError for a bad `first` or cursor."""
    return cut_page(
        found.consumers,
        lambda one: (-one.seconds, one.job),
        first=first,
        after=after,
        shape=(0.0, ""),
    )


def chargeback(consumers: Iterable[Consumer]) -> list[CostShare]:
    """What each owner's jobs cost, the most first; the time of a job with several owners is split among them."""
    seconds: dict[str | None, float] = defaultdict(float)
    jobs: dict[str | None, int] = defaultdict(int)
    for consumer in consumers:
        owners: list[str | None] = [*consumer.owners] or [None]
        for owner in owners:
            seconds[owner] += consumer.seconds / len(owners)
            jobs[owner] += 1
    charges = [CostShare(owner, jobs[owner], seconds[owner]) for owner in seconds]
    return sorted(
        charges, key=lambda charge: (-charge.seconds, charge.owner is None, charge.owner or "")
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
    """Datasets that nobody used in the last so many days, the largest first; those of unknown size last."""
    require_page_size(first)
    since, _ = last_days(now, days)
    cursor = decode_cursor(after, (0, "")) if after else (_LARGEST, "")
    [row] = view.read(
        "read/estate/unused_datasets",
        since=since,
        namespace=namespace,
        sees=view.visibility.regexes,
        cursorBytes=cursor[0],
        cursorUrn=cursor[1],
        limit=first + 1,
    )
    shown = row["page"][:first]
    reads = {
        read["urn"]: read["lastRead"]
        for read in view.read(
            "read/estate/last_reads",
            urns=[one["urn"] for one in shown],
            sees=view.visibility.regexes,
        )
    }
    entries = [Unused(one["urn"], one["bytes"], reads.get(one["urn"])) for one in shown]
    cursors = [
        encode_cursor(-1 if one.bytes is None else one.bytes, one.dataset) for one in entries
    ]
    return UnusedPage(
        Page(entries, cursors, len(row["page"]) > first),
        row["count"],
        row["bytes"] or 0,
        row["unknown_size_count"],
    )


def _with_summaries(rows: list[Row], summed: list[Row]) -> list[Row]:
    """Consumers with what was summed up of their older runs; of those no rows and bytes are told."""
    by_job = {row["job"]: row for row in rows}
    for row in summed:
        mine = by_job.setdefault(row["job"], {**row, "runs": 0, "seconds": 0.0})
        mine["runs"] += row["runs"]
        mine["seconds"] += row["seconds"]
        mine["lastRead"] = max(at for at in (mine["lastRead"], row["lastRead"]) if at is not None)
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
