"""Resolve the sources of an answer to the datasets that the OpenLineage listener reported.

A source is a path, a table of the catalog, a DataFrame (every file or table that it reads), or a
mapping with `namespace` and `name` (and optionally `runId` or `field`) or with `answerId`. An
unresolvable source is an error with its reason, never a guess: a wrong citation is worse than none.
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
    """Return the citation of each source, in order and once.

    Raises SettingsError for a source that is no dataset.
    """
    distinct: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for source in sources:
        for citation in _cite_one(spark, source):
            distinct.setdefault(tuple(sorted(citation.items())), citation)
    return list(distinct.values())


def _cite_one(spark: SparkSession, source: Any) -> Iterator[dict[str, str]]:
    if isinstance(source, Mapping):
        if not any(keys <= source.keys() for keys in _NATIVE_KEYS):
            raise SettingsError(
                f"a citation must have namespace and name, or answerId: {dict(source)!r}"
            )
        yield {str(key): str(value) for key, value in source.items()}
    elif isinstance(source, os.PathLike):
        yield _cite_uri(_qualified(spark, os.fspath(source)))
    elif isinstance(source, str):
        yield from _cite_text(spark, source)
    elif hasattr(source, "queryExecution") or hasattr(source, "schema"):
        yield from _cite_frame(source)
    else:
        raise SettingsError(
            f"a source must be a path, a table, a DataFrame or a mapping: {source!r}"
        )


def _cite_uri(uri: str) -> dict[str, str]:
    namespace, name = dataset_name(uri)
    return {"namespace": namespace, "name": name}


def _cite_text(spark: SparkSession, text: str) -> Iterator[dict[str, str]]:
    if not text.strip():
        raise SettingsError("a source is an empty text; expected a path or a table")
    if "/" in text:
        yield _cite_uri(_qualified(spark, text))
    elif spark.catalog.tableExists(text):
        yield from _cite_frame(spark.table(text))
    elif Path(text).exists():
        yield _cite_uri(_qualified(spark, text))
    else:
        raise SettingsError(f"{text!r} is neither a table of this session nor a path that exists")


def _qualified(spark: SparkSession, path: str) -> str:
    """Return the path with its file system, completed as Spark completes it."""
    if _SCHEME.match(path):
        return path
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        # Spark Connect does not expose the file system of the server; use the local one.
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
            "a DataFrame of Spark Connect does not expose its sources",
            hint="Cite its path or table.",
        )
    # The analysed plan, not the optimised one: it still has the sources of a cached frame.
    leaves = plan.queryExecution().analyzed().collectLeaves()
    locations: list[str] = []
    for i in range(leaves.size()):
        locations += _locations(leaves.apply(i))
    if not locations:
        raise SettingsError(
            "this DataFrame reads no file or table", hint="Cite the dataset by namespace and name."
        )
    yield from map(_cite_uri, locations)


def _path_of(location: Any) -> str:
    """Return the location of a table as a path; the catalog has a java.net.URI, with %20 for a
    blank.
    """
    scheme, authority = location.getScheme(), location.getAuthority()
    return (
        (f"{scheme}:" if scheme else "")
        + (f"//{authority}" if authority else "")
        + str(location.getPath())
    )


def _locations(leaf: Any) -> list[str]:
    """Return the locations that one leaf of a plan reads; none for rows made in the program."""
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
        f"no dataset is known for {leaf.nodeName()}", hint="Cite it by namespace and name."
    )
