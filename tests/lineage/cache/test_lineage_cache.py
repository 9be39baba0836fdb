"""The indexes of the lineage cache, worked out by hand, in any order of updates."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from headwater.lineage.cache.lineage_cache import (
    CachedAlias,
    CachedDataset,
    CachedJob,
    CachedOutput,
    CacheEntry,
    LineageCache,
)
from headwater.lineage.node_names import NodeName
from tests.run_builders import ds, job


def named(urn: str) -> NodeName:
    return NodeName(urn, "JOB" if urn.startswith("job:") else "DATASET", "x", urn)


def cached_job(
    urn: str, *, reads: list[str], makes: list[CachedOutput], feeds: list[str] | None = None
) -> CachedJob:
    return CachedJob(named(urn), tuple(reads), tuple(makes), tuple(feeds or ()))


def test_neighbours_of_each_node() -> None:
    cache = LineageCache()
    cache.replace_entries(
        {
            ds("a"): CachedDataset(
                named(ds("a")), columns=(("column:db:a:id", ("column:db:b:id", ds("c"))),)
            ),
            ds("old"): CachedAlias(ds("a")),
            job("j"): cached_job(
                job("j"),
                reads=[ds("a"), ds("x")],
                makes=[
                    CachedOutput(ds("b"), (ds("a"),), False),
                    CachedOutput(ds("c"), (), False),
                    CachedOutput(ds("d"), (), True),
                ],
                feeds=[job("k")],
            ),
        }
    )
    down, up = cache.downstream, cache.upstream
    assert down.producers_or_consumers == {ds("a"): (job("j"),), ds("x"): (job("j"),)}
    assert down.inputs_or_outputs == {job("j"): (ds("b"), ds("c"), ds("d"))}
    # An output with derivations, or with none, is not reached from every input of the job.
    assert down.reached_from_any == {job("j"): (ds("c"),)}
    assert down.reached_from == {(ds("a"), job("j")): (ds("b"),)}
    assert up.producers_or_consumers == {
        ds("b"): (job("j"),),
        ds("c"): (job("j"),),
        ds("d"): (job("j"),),
    }
    assert up.inputs_or_outputs == up.reached_from_any == {job("j"): (ds("a"), ds("x"))}
    assert set(up.closed_entries) == {(ds("b"), job("j")), (ds("d"), job("j"))}
    assert up.reached_from == {(ds("b"), job("j")): (ds("a"),)}
    assert (down.direct_neighbours, up.direct_neighbours) == (
        {job("j"): (job("k"),)},
        {job("k"): (job("j"),)},
    )
    assert down.columns == {"column:db:a:id": ("column:db:b:id",)}
    assert up.whole_datasets == {ds("c"): ("column:db:a:id",)}
    assert (cache.canonical_urn(ds("old")), cache.canonical_urn("column:db:a:id")) == (
        ds("a"),
        "column:db:a:id",
    )
    assert cache.canonical_urn(ds("b")) is None
    assert (ds("a") in cache.names, ds("old") in cache.names) == (True, False)


def test_removed_edges_leave_no_neighbours() -> None:
    cache = LineageCache()
    cache.replace_entries(
        {
            job("j"): cached_job(
                job("j"), reads=[ds("a")], makes=[CachedOutput(ds("b"), (ds("a"),), True)]
            )
        }
    )
    cache.replace_entries({job("j"): None, job("never"): None})
    assert cache.entries == {}
    assert all(index == {} for index in cache.indexes().values())


NAMES = st.sampled_from(["a", "b", "c"])
DATASET_URNS = st.lists(NAMES.map(ds), max_size=3, unique=True)
OUTPUTS = st.lists(
    st.builds(CachedOutput, NAMES.map(ds), DATASET_URNS.map(tuple), st.booleans()), max_size=3
)
JOBS = st.builds(
    lambda name, reads, makes, feeds: (
        job(name),
        cached_job(job(name), reads=reads, makes=makes, feeds=feeds),
    ),
    NAMES,
    DATASET_URNS,
    OUTPUTS,
    st.lists(NAMES.map(job), max_size=2, unique=True),
)
COLUMNS = st.lists(
    st.tuples(NAMES.map("column:db:{}:id".format), DATASET_URNS.map(tuple)),
    max_size=2,
    unique_by=lambda c: c[0],
)
DATASETS = st.builds(
    lambda name, feeds, columns: (
        ds(name),
        CachedDataset(named(ds(name)), tuple(feeds), tuple(columns)),
    ),
    NAMES,
    DATASET_URNS,
    COLUMNS,
)
OTHERS = st.builds(lambda name, other: (ds(name), CachedAlias(ds(other))), NAMES, NAMES)
REMOVALS = st.tuples(st.one_of(NAMES.map(ds), NAMES.map(job)), st.none())
# No column belongs to two datasets: each entry has columns of its own.
PARTS = st.lists(st.one_of(JOBS, DATASETS, OTHERS, REMOVALS), max_size=12)


@given(PARTS, st.randoms(use_true_random=False))
def test_order_and_repetition_of_updates_do_not_matter(
    updates: list[tuple[str, CacheEntry | None]], random_source: random.Random
) -> None:
    updates = [(urn, _with_own_columns(urn, part)) for urn, part in updates]
    cache = LineageCache()
    for urn, part in updates:
        cache.replace_entries({urn: part})
    latest = [(urn, part) for urn, part in dict(updates).items() if part is not None]
    random_source.shuffle(latest)
    fresh = LineageCache()
    fresh.replace_entries(dict(latest))
    assert cache.entries == fresh.entries
    assert cache.indexes() == fresh.indexes()


def _with_own_columns(urn: str, part: CacheEntry | None) -> CacheEntry | None:
    if not isinstance(part, CachedDataset):
        return part
    return part._replace(
        columns=tuple((f"{column}:{urn[-1]}", targets) for column, targets in part.columns)
    )
