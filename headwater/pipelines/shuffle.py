"""Rows in bundles: Spark carries a few large values in a fraction of the time that it takes for many small ones.

    rows of one delta -> by bucket of their key -> those of one bucket, joined -> sorted bundles -> one stream of rows
                         (shuffled by bucket)                                     (sorted by their first rows)

Equal keys have one bucket, so a bucket is all that has to meet in one place. What leaves it is sorted and cut into
bundles, and these are sorted by their first rows: merged as they come, they are all rows in the order of (kind, at,
key), whatever the buckets were.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from headwater.pipelines.rows import Row, join_rows, split_rows, unpack

# A bucket for so many bytes of events: one is in memory at a time. There are no more than that, however much there is
# to read, or nothing would be left to bundle.
BUCKET_BYTES = 64 * 2**20
BUCKETS_MIN, BUCKETS_MAX = 16, 4_096
BUNDLE_ROWS, BUNDLE_BYTES = 1_000, 128 * 2**10
# Rows wait for others that come before them: at least so many are sorted at once.
_WAITING = 20_000


def bucket_count(size: int) -> int:
    """How many buckets there are for so many bytes of files."""
    return min(max(size // BUCKET_BYTES, BUCKETS_MIN), BUCKETS_MAX)


def assign_buckets(rows: Iterable[Row], buckets: int) -> Iterator[tuple[int, list[Row]]]:
    """Rows by their buckets, some at a time."""
    by_bucket: list[list[Row]] = [[] for _ in range(buckets)]
    for row in rows:
        by_bucket[zlib.crc32(row.key) % buckets].append(row)
    for bucket, mine in enumerate(by_bucket):
        for some in split_rows(mine, rows_max=BUNDLE_ROWS, bytes_max=BUNDLE_BYTES):
            yield bucket, some


def gather_buckets(some: Iterable[tuple[int, bytes]]) -> Iterator[list[Row]]:
    """The rows of each bucket, of pack ones that come bucket by bucket."""
    for _, parts in groupby(some, key=itemgetter(0)):
        yield [row for _, rows in parts for row in unpack(rows)]


def bundle_rows(rows: list[Row]) -> Iterator[list[Row]]:
    """The rows of one bucket, joined, in bundles."""
    rows.sort(key=itemgetter(0, 2))
    met = sorted(join_rows(rows), key=itemgetter(0, 1, 2))
    # Bundles are of one kind: what says what was read comes before all facts, and is told apart by it.
    for _, mine in groupby(met, key=itemgetter(0)):
        yield from split_rows(mine, rows_max=BUNDLE_ROWS, bytes_max=BUNDLE_BYTES)


def merge_bundles(bundles: Iterable[list[Row]]) -> Iterator[Row]:
    """All rows in the order of (kind, at, key), of bundles that come in the order of their first rows."""
    waiting: list[Row] = []
    at_once = _WAITING
    for bundle in bundles:
        if len(waiting) >= at_once:
            # Whatever comes now or later comes behind the first row of this bundle.
            waiting.sort()
            done = bisect_left(waiting, bundle[0])
            yield from waiting[:done]
            del waiting[:done]
            at_once = max(2 * len(waiting), _WAITING)
        waiting += bundle
    waiting.sort()
    yield from waiting
