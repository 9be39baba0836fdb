"""Archives of events, as Spark reads them: folders, files and globs, on this machine or in an object store.

| file | what is in it |
|---|---|
| `*.parquet` | a column `body` with an event in each row; with `received` and `checksum` too it is of our own lake |
| anything else | one event a line; `.gz`, `.bz2` and `.zst` are unpacked |

Names that begin with `_` or `.` are passed over, as everywhere in Spark.
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
    """A file that is there to be read; `modified` is in microseconds since 1970."""

    path: str
    size: int
    modified: int


def files_in(spark: SparkSession, paths: Sequence[str]) -> list[File]:
    """Every file below these paths that is not empty. Raises NotFoundError where there is none."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as fn

    found: set[File] = set()
    for path in paths:
        try:
            # Of this source only the contents are read, and those are not asked for.
            listed = (
                spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path)
            )
            rows = listed.select("path", "length", fn.unix_micros("modificationTime")).collect()
        except AnalysisException as error:
            raise NotFoundError(f"{path}: {str(error).splitlines()[0]}") from error
        if not rows:
            raise NotFoundError(f"there is no file in {path}")
        found.update(File(*row) for row in rows)
    return sorted(file for file in found if file.size)


def read(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """The events in these files, in the columns of `folding.READ`. Raises QueryError for Parquet without events."""
    from pyspark.sql import functions as fn

    text = [_literally(file.path) for file in files if not file.path.endswith(PARQUET)]
    tables = [_literally(file.path) for file in files if file.path.endswith(PARQUET)]
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
    """Whether a Parquet file with these columns is of our own lake: what is in it went through redaction once."""
    return {"spool", "seq", "received", "checksum", "body"} <= set(columns)


def _tables(table: DataFrame) -> DataFrame:
    from pyspark.sql import functions as fn

    if "body" not in table.columns:
        raise QueryError(
            "the Parquet files have no column `body`",
            hint="Each row is to hold an event in it, as JSON.",
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


def _literally(path: str) -> str:
    """A path that may hold what would be a glob."""
    return _GLOB.sub(r"\\\1", path)
