"""Archives of events, as Spark reads them: folders, files and globs, local or in an object store.

| file | content |
|---|---|
| `*.parquet` | an event in `body` of each row; a lake also has `received` and `checksum` |
| any other | one event a line; `.gz`, `.bz2` and `.zst` are decompressed |

Names that begin with `_` or `.` are skipped, as everywhere in Spark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from headwater.errors import NotFoundError, QueryError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARQUET = ".parquet"
_GLOB = re.compile(r"([{}\[\]*?\\])")


class File(msgspec.Struct, frozen=True, order=True):
    """A file to read; `modified` is in microseconds since 1970, `size` in bytes."""

    path: str
    size: int
    modified: int


def files_in(spark: SparkSession, paths: Sequence[str]) -> list[File]:
    """Return all files below these paths that are not empty.

    Raises NotFoundError if a path has none.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as fn

    files: set[File] = set()
    for path in paths:
        try:
            # The source reads contents only if the column `content` is selected.
            listed = (
                spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
            )
            rows = listed.select("path", "length", fn.unix_micros("modificationTime")).collect()
        except AnalysisException as error:
            raise NotFoundError(f"{path}: {str(error).splitlines()[0]}") from error
        if not rows:
            raise NotFoundError(f"{path} has no files")
        files.update(File(*row) for row in rows)
    return sorted(file for file in files if file.size)


def read(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Return the events in these files, with the columns `fold_partition.READ`.

    Raises QueryError for Parquet without a column `body`.
    """
    from pyspark.sql import functions as fn

    text = [_escape_glob(file.path) for file in files if not file.path.endswith(PARQUET)]
    tables = [_escape_glob(file.path) for file in files if file.path.endswith(PARQUET)]
    frames = []
    if text:
        lines = spark.read.format("text").option("recursiveFileLookup", "true").load(text)
        frames.append(
            lines.select(
                fn.col("value").cast("binary").alias("body"),
                fn.unix_micros("_metadata.file_modification_time").alias("received"),
                fn.col("_metadata.file_path").alias("file"),
                fn.col("_metadata.file_block_start").alias("start"),
                fn.lit(None).cast("long").alias("number"),
                fn.lit(None).cast("long").alias("checksum"),
            )
        )
    if tables:
        frames.append(_tables(spark.read.option("recursiveFileLookup", "true").parquet(*tables)))
    return frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])


def is_own(columns: Sequence[str]) -> bool:
    """Return True if these are the columns of a lake, whose events are redacted already."""
    return {"spool", "seq", "received", "checksum", "body"} <= set(columns)


def _tables(table: DataFrame) -> DataFrame:
    from pyspark.sql import functions as fn

    if "body" not in table.columns:
        raise QueryError(
            "the Parquet files have no column `body`",
            hint="Name the column of events `body`; each value is an event as JSON.",
        )
    own = is_own(table.columns)
    modified = fn.unix_micros("_metadata.file_modification_time")
    return table.select(
        fn.col("body").cast("binary").alias("body"),
        (fn.unix_micros("received") if own else modified).alias("received"),
        fn.col("_metadata.file_path").alias("file"),
        fn.lit(0).cast("long").alias("start"),
        (fn.col("seq") if own else fn.col("_metadata.row_index")).cast("long").alias("number"),
        (fn.col("checksum") if own else fn.lit(None)).cast("long").alias("checksum"),
    )


def _escape_glob(path: str) -> str:
    """Return a path with its glob characters escaped."""
    return _GLOB.sub(r"\\\1", path)
