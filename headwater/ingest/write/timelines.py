"""The cached timelines of datasets: read once, then kept up to date with every written run."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.cypher.driver.database import Transaction
from headwater.ingest.project import RunView
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.consumers import drop_time, withdrawn_versions
from headwater.ingest.write.version_timeline import TIMELINE_MAX, Version, read_timeline


def load_timelines(transaction: Transaction, datasets: Iterable[str], cache: WriteCache) -> None:
    """Read the timelines of the datasets that have none in the cache."""
    unknown = sorted(urn for urn in set(datasets) if urn not in cache.timelines)
    if not unknown:
        return
    for row in transaction.run("read/versions/timelines", urns=unknown, limit=TIMELINE_MAX):
        cache.timelines[row["dataset"]] = read_timeline(
            row["complete"], row["partial"], row["drops"]
        )


def update_timelines(run: str, old: RunView | None, new: RunView, cache: WriteCache) -> None:
    """Update the cached timelines with the versions of a run and the datasets that it dropped."""
    for urn in withdrawn_versions(old, new):
        if old and (timeline := cache.timelines.get(old.artifacts[urn]["dataset"])):
            timeline.drop(urn)
    for urn, now in new.artifacts.items():
        timeline = cache.timelines.get(now["dataset"])
        if timeline is None:
            continue
        if now["createdAt"] is None:
            timeline.drop(urn)
        else:
            timeline.put(
                Version(
                    now["createdAt"],
                    urn,
                    run,
                    now["startedAt"],
                    now["complete"],
                    now["writeMode"],
                    now["inputsHash"],
                )
            )
    for view in (old, new) if old else (new,):
        _update_drops(run, view, cache)


def _update_drops(run: str, view: RunView, cache: WriteCache) -> None:
    ended = drop_time(view)
    for dataset in view.dropped:
        timeline = cache.timelines.get(dataset)
        if timeline is None:
            continue
        if ended is None:
            timeline.drops.pop(run, None)
        else:
            timeline.drops[run] = ended
