"""What an answer is drawn from, in a user's words, turned into the datasets the listener reported.

Taken are paths, tables of the catalog, DataFrames (every file or table they read) and, where someone knows
better, a mapping with `namespace` and `name` (and, if wanted, `runId` or `field`) or `answerId`. What can not
be told is refused with the reason, never guessed: an answer that cites the wrong dataset is worse than none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.errors import SettingsError
from headwater.spark_hooks.naming import dataset_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:/")
_NATIVE_KEYS = ({"namespace", "name"}, {"answerId"})


def citations(spark: SparkSession, sources: Sequence[Any]) -> list[dict[str, str]]:
    """Each source as Headwater cites it, in order and once; raises SettingsError for what is no dataset."""
    found: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for source in sources:
        for citation in _cite_one(spark, source):
            found.setdefault(tuple(sorted(citation.items())), citation)
    return list(found.values())


def _cite_one(spark: SparkSession, source: Any) -> Iterator[dict[str, str]]:
    if isinstance(source, Mapping):
        if not any(keys <= source.keys() for keys in _NATIVE_KEYS):
            raise SettingsError(
                f"a citation needs namespace and name, or answerId: {dict(source)!r}"
            )
        yield {str(key): str(value) for key, value in source.items()}
    elif isinstance(source, os.PathLike):
        yield _cite_uri(_qualified(spark, os.fspath(source)))
    elif isinstance(source, str):
        yield from _cite_text(spark, source)
    elif hasattr(source, "queryExecution") or hasattr(source, "schema"):
        yield from _cite_frame(source)
    else:
        raise SettingsError(f"not a path, a table, a DataFrame or a mapping: {source!r}")


def _cite_uri(uri: str) -> dict[str, str]:
    namespace, name = dataset_name(uri)
    return {"namespace": namespace, "name": name}


def _cite_text(spark: SparkSession, text: str) -> Iterator[dict[str, str]]:
    if not text.strip():
        raise SettingsError("an empty text is neither a path nor a table")
    if "/" in text:
        yield _cite_uri(_qualified(spark, text))
    elif spark.catalog.tableExists(text):
        yield from _cite_frame(spark.table(text))
    elif Path(text).exists():
        yield _cite_uri(_qualified(spark, text))
    else:
        raise SettingsError(f"{text!r} is neither a table of this session nor a path that exists")


def _qualified(spark: SparkSession, path: str) -> str:
    """The path with its file system, as Spark itself would complete it."""
    if _SCHEME.match(path):
        return path
    jvm = getattr(spark, "_jvm", None)
    if (
        jvm is None
    ):  # Spark Connect: the server's file system can not be asked, the local one is the best guess
        return os.path.abspath(path)
    context: Any = spark.sparkContext
    hadoop_path = jvm.org.apache.hadoop.fs.Path(path)
    return str(
        hadoop_path.getFileSystem(context._jsc.hadoopConfiguration())
        .makeQualified(hadoop_path)
        .toString()
    )


def _cite_frame(frame: Any) -> Iterator[dict[str, str]]:
    plan = getattr(frame, "_jdf", None)
    if plan is None:
        raise SettingsError(
            "a DataFrame of Spark Connect does not show what it reads: cite its path or table"
        )
    # The analysed plan, not the optimised one: a cached frame still shows there what it was read from.
    leaves = plan.queryExecution().analyzed().collectLeaves()
    locations = [uri for i in range(leaves.size()) for uri in _locations(leaves.apply(i))]
    if not locations:
        raise SettingsError(
            "this DataFrame reads no file or table that could be cited: name the dataset itself"
        )
    yield from map(_cite_uri, locations)


def _path_of(location: Any) -> str:
    """A table's location as a path: the catalog keeps a java.net.URI, in which a blank is written %20."""
    scheme, authority = location.getScheme(), location.getAuthority()
    return (
        (f"{scheme}:" if scheme else "")
        + (f"//{authority}" if authority else "")
        + str(location.getPath())
    )


def _locations(leaf: Any) -> list[str]:
    """Where one leaf of a plan reads from; nothing for rows made up in the program itself."""
    kind = leaf.getClass().getSimpleName()
    if kind == "LogicalRelation":
        table = leaf.catalogTable()
        if table.isDefined():
            return [_path_of(table.get().location())]
        relation = leaf.relation()
        if relation.getClass().getSimpleName() == "HadoopFsRelation":
            roots = relation.location().rootPaths()
            return [roots.apply(i).toString() for i in range(roots.size())]
    elif kind == "HiveTableRelation":
        return [_path_of(leaf.tableMeta().location())]
    elif kind in {"LocalRelation", "LogicalRDD", "OneRowRelation", "Range"}:
        return []
    raise SettingsError(
        f"cannot tell which dataset {leaf.nodeName()} is: cite it by namespace and name"
    )
