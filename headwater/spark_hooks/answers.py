"""`cite`: record the sources of an answer, so that the answer can be traced.

An answer is a report, a number on a dashboard, a prediction, a decision. Wrong arguments raise,
because the caller can correct them. A Headwater that is absent, slow or refuses only causes a
warning, and costs two seconds at most. Then `cite` does not try the same address for half a minute,
so that a job that cites a hundred answers does not wait a hundred times. With `strict=True` it
always tries, and raises.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError, SettingsError
from headwater.schema.headwater_facets import answer_event
from headwater.spark_hooks import listener, send
from headwater.spark_hooks.datasets import citations

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ANSWER_SECONDS = 2.0

_recent_failures = send.RecentFailures()


def _address(spark: SparkSession, url: str | None, api_key: str | None) -> tuple[str, str | None]:
    """Return Headwater's address and key: the arguments, or else the settings of the session."""
    key = api_key or spark.conf.get(listener.API_KEY, None)
    if url is not None:
        conf = listener.spark_conf(url)
        return conf[listener.URL] + conf[listener.URL_PATH], key
    base = spark.conf.get(listener.URL, None)
    if not base:
        raise SettingsError(
            "this Spark session has no address of Headwater",
            hint="Use configure(), or pass url=.",
        )
    return base.rstrip("/") + (spark.conf.get(listener.URL_PATH, None) or listener.ENDPOINT), key


def cite(
    spark: SparkSession,
    *,
    answer_id: str,
    from_: Sequence[str | os.PathLike[str] | DataFrame | Mapping[str, str]],
    type: str | None = None,
    content: str | None = None,
    generated_by: str | None = None,
    url: str | None = None,
    api_key: str | None = None,
    strict: bool = False,
) -> bool:
    """Record an answer and its sources.

    Args:
        spark: The session that read the sources.
        answer_id: Id of the answer.
        from_: The sources: paths, names of tables, DataFrames (all files and tables they read), or
            mappings with `namespace` and `name` (and `runId` or `field`), or with `answerId`.
        type: Type of the answer, for example `report`.
        content: The answer, or a summary of it.
        generated_by: Person or program that gave the answer; by default the name of the
            application.
        url: Address of Headwater; by default that of `configure` or spark-defaults.conf.
        api_key: API key; by default that of the session.
        strict: Raise when Headwater does not accept the answer.

    Returns:
        True if Headwater accepted the answer.

    Raises:
        SettingsError: An argument is wrong, or a source is no dataset.
        HeadwaterError: Headwater did not accept the answer; only if `strict`.
    """
    if not answer_id or not answer_id.strip():
        raise SettingsError("answer_id is empty", hint="Give the answer an id.")
    if isinstance(from_, (str, os.PathLike, Mapping)) or not from_:
        raise SettingsError("from_ must be a list of at least one source")
    address, key = _address(spark, url, api_key)
    event = answer_event(
        answer_id,
        cites=citations(spark, from_),
        type=type,
        content=content,
        generated_by=generated_by or spark.conf.get("spark.app.name", None),
    )
    try:
        if not strict and _recent_failures.includes(address):
            raise HeadwaterError(
                f"Headwater at {address} was unavailable in the last"
                f" {send.QUIET_SECONDS:g} s; not tried again"
            )
        send.post(address, event, api_key=key, seconds=ANSWER_SECONDS)
    except HeadwaterError as fault:
        if strict:
            raise
        if not _recent_failures.includes(address):
            _recent_failures.add(address)
        warnings.warn(
            f"answer {answer_id!r} was not recorded: {fault.message}", RuntimeWarning, stacklevel=2
        )
        return False
    _recent_failures.remove(address)
    return True
