"""The links between versions of one dataset: an append keeps the content of the version before.

`(kept:Artifact)-[:FEEDS]->(version:Artifact)` means that `version` still has the content of `kept`.
A version keeps the newest complete version before it, by the time of creation:

- An append keeps it.
- An overwrite keeps nothing, nor does the first version after a drop.
- A write of unknown mode replaces the version before it if that came from a write of the same job
  and the same datasets. It then keeps what that version kept. Otherwise it keeps that version, so
  the source of no other write is lost.

What a failed run left is no predecessor: like readers, later versions rest on the complete version
before it. Its own partial version follows the rules.

A version that appears, moves or changes its mode changes the links of the versions after it, up to
the next complete one. A changed link of a complete version may change the versions that inherit it:
in turn all later versions of the dataset. All of these are linked again in the same transaction. So
links are a function of the set of events. Later versions are read in pages that grow, so a long
chain takes few reads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.context import WriteContext
from headwater.ingest.write.rows import write_rows
from headwater.ingest.write.timelines import load_timelines
from headwater.ingest.write.version_timeline import Version
from headwater.schema.write_modes import APPEND, OVERWRITE

# By dataset: instants around which versions are linked again.
_Instants = Mapping[str, Iterable[datetime]]
# The complete versions that one read takes behind the given instants, at most: the first read only
# the next one. Most chains are short.
_PAGE_SIZES = (1, 32, 128, 512, 2048)


def link_kept_content(context: WriteContext) -> None:
    """Link the versions that changed, and the versions after them, to the content they keep."""
    transaction, cache = context.transaction, context.cache
    instants: _Instants = context.changes.rewritten
    load_timelines(transaction, instants, cache)
    changed: dict[str, str] = {}
    page_sizes = iter(_PAGE_SIZES)
    while instants:
        page_size = next(page_sizes, _PAGE_SIZES[-1])
        windows = _read_windows(transaction, instants, page_size, cache)
        instants = {
            dataset: _link_windows(dataset, some, changed, cache)
            for dataset, some in windows.items()
        }
        instants = {dataset: some for dataset, some in instants.items() if some}
    rows = [{"version": urn, "kept": kept} for urn, kept in sorted(changed.items())]
    write_rows(transaction, "write/versions/kept_content", rows)


def _read_windows(
    transaction: Transaction, instants: _Instants, page_size: int, cache: WriteCache
) -> dict[str, list[tuple[datetime, list[Version]]]]:
    """Return the versions around each instant, by dataset, earliest first."""
    windows: dict[str, list[tuple[datetime, list[Version]]]] = defaultdict(list)
    missing: list[Row] = []
    for dataset, some in instants.items():
        for instant in sorted(some):
            versions = cache.timelines[dataset].around(instant)
            if versions is None:
                missing.append({"dataset": dataset, "at": instant})
            else:
                windows[dataset].append((instant, versions))
    if missing:
        ahead = max(page_size // len(missing), 1)
        rows = transaction.run("read/versions/versions_around", rows=missing, ahead=ahead)
        for row in rows:
            versions = sorted(Version(*version) for version in row["versions"])
            windows[row["dataset"]].append((row["at"], versions))
    return {dataset: sorted(some, key=lambda pair: pair[0]) for dataset, some in windows.items()}


def _link_windows(
    dataset: str,
    windows: list[tuple[datetime, list[Version]]],
    changed: dict[str, str],
    cache: WriteCache,
) -> set[datetime]:
    """Link the versions of windows, earliest first.

    Returns when the versions were made whose links changed and whose next versions are in no window
    after that.
    """
    pending: set[datetime] = set()
    for instant, versions in windows:
        end = max((version.created for version in versions if version.complete), default=instant)
        # The window has the next versions of those before its end.
        pending = {created for created in pending if not instant <= created < end}
        last = _link_window(dataset, (instant, versions), changed, cache)
        if last is not None:
            pending.add(last.created)
    return pending


def _link_window(
    dataset: str,
    window: tuple[datetime, list[Version]],
    changed: dict[str, str],
    cache: WriteCache,
) -> Version | None:
    """Link the versions of a window. Return the last complete one if its link changed."""
    instant, versions = window
    timeline = cache.timelines[dataset]
    drops = sorted(timeline.drops.values())
    before: Version | None = None
    last: Version | None = None
    for version in versions:
        kept = known = changed.get(version.urn, version.kept)
        if before is not None or version.created >= instant:
            kept = _kept(version, before, drops)
        if kept != known:
            changed[version.urn] = kept
            timeline.set_kept(version.urn, kept)
        if version.complete:
            before = version._replace(kept=kept)
            last = before if kept != known else None
    return last


def _kept(version: Version, before: Version | None, drops: Sequence[datetime]) -> str:
    """Return the urn of the version whose content a version kept, "" if it kept none.

    `drops` are in order.
    """
    if before is None or version.write_mode == OVERWRITE:
        return ""
    next_drop = bisect_right(drops, before.created)
    if next_drop < len(drops) and drops[next_drop] < version.created:
        return ""
    if version.write_mode == APPEND:
        return before.urn
    if version.inputs_hash is None or (before.write_mode is None and before.inputs_hash is None):
        # Written by an older release, which did not record the mode. A rebuild adds it.
        return ""
    return before.kept if before.inputs_hash == version.inputs_hash else before.urn
