"""The shuffle of rows in bundles: Spark moves a few large values faster than many small ones.

    rows of a delta -> buckets by key -> join in each bucket -> sorted bundles -> one stream of rows
                       (Spark shuffles)                         (Spark sorts by first row)

Equal keys are in the same bucket, so only the rows of one bucket need to be in one place. The
joined rows of a bucket are sorted and cut into bundles, and Spark sorts the bundles by their first
rows. The merge of the bundles yields all rows in the order (kind, at, key), whatever the buckets
were.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter

from headwater.pipelines.rows import Row, join_rows, split_rows, unpack

# The bytes of events for one bucket; a task has one bucket in memory. With more buckets than the
# maximum, bundles would be too small.
BUCKET_BYTES = 64 * 2**20
BUCKETS_MIN, BUCKETS_MAX = 16, 4_096
BUNDLE_ROWS, BUNDLE_BYTES = 1_000, 128 * 2**10
# The minimum number of rows that the merge collects before it sorts them.
_MERGE_ROWS = 20_000


def bucket_count(size: int) -> int:
    """Return the number of buckets for so many bytes of files."""
    return min(max(size // BUCKET_BYTES, BUCKETS_MIN), BUCKETS_MAX)


def assign_buckets(rows: Iterable[Row], buckets: int) -> Iterator[tuple[int, list[Row]]]:
    """Yield the rows of each bucket in lists of bounded size."""
    by_bucket: list[list[Row]] = [[] for _ in range(buckets)]
    for row in rows:
        by_bucket[zlib.crc32(row.key) % buckets].append(row)
    for bucket, bucket_rows in enumerate(by_bucket):
        for some in split_rows(bucket_rows, rows_max=BUNDLE_ROWS, bytes_max=BUNDLE_BYTES):
            yield bucket, some


def gather_buckets(some: Iterable[tuple[int, bytes]]) -> Iterator[list[Row]]:
    """Yield the rows of each bucket from packed lists that are sorted by bucket."""
    for _, parts in groupby(some, key=itemgetter(0)):
        yield list(chain.from_iterable(unpack(rows) for _, rows in parts))


def bundle_rows(rows: list[Row]) -> Iterator[list[Row]]:
    """Join the rows of one bucket; yield them in bundles."""
    rows.sort(key=itemgetter(0, 2))
    joined = sorted(join_rows(rows), key=itemgetter(0, 1, 2))
    # A bundle has one kind: the driver separates records and facts by it.
    for _, kind_rows in groupby(joined, key=itemgetter(0)):
        yield from split_rows(kind_rows, rows_max=BUNDLE_ROWS, bytes_max=BUNDLE_BYTES)


def merge_bundles(bundles: Iterable[list[Row]]) -> Iterator[Row]:
    """Yield all rows in the order (kind, at, key) from bundles sorted by their first rows."""
    waiting: list[Row] = []
    rows_per_merge = _MERGE_ROWS
    for bundle in bundles:
        if len(waiting) >= rows_per_merge:
            # All later rows come behind the first row of this bundle.
            waiting.sort()
            done = bisect_left(waiting, bundle[0])
            yield from waiting[:done]
            del waiting[:done]
            rows_per_merge = max(2 * len(waiting), _MERGE_ROWS)
        waiting += bundle
    waiting.sort()
    yield from waiting
