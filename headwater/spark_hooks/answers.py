"""`cite`: say what an answer was drawn from, so that it can be traced back to its sources.

An answer is a report, a number on a dashboard, a prediction, a decision. Wrong arguments raise, because they
are the caller's to hint. A Headwater that is away, slow or unwilling only warns, and costs two seconds at
most; after that, answers to the same place are not tried for half a minute, so that a job that cites a hundred
of them does not wait a hundred times. `strict=True` always tries, and raises.
"""

from __future__ import annotations

import os
import time
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
QUIET_SECONDS = 30.0

_away_since: dict[str, float] = {}


def _where(spark: SparkSession, url: str | None, api_key: str | None) -> tuple[str, str | None]:
    """Headwater's address and key: as given here, else as `configure` or spark-defaults.conf set them."""
    key = api_key or spark.conf.get(listener.API_KEY, None)
    if url is not None:
        conf = listener.spark_conf(url)
        return conf[listener.URL] + conf[listener.URL_PATH], key
    base = spark.conf.get(listener.URL, None)
    if not base:
        raise SettingsError(
            "this Spark session does not know where Headwater is",
            hint="use configure(), or pass url=",
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
    """Record an answer and what it came from; True when Headwater has it.

    `from_` holds paths, tables, DataFrames, or mappings with `namespace` and `name` or `answerId`.
    """
    if not answer_id or not answer_id.strip():
        raise SettingsError("an answer needs an id")
    if isinstance(from_, (str, os.PathLike, Mapping)) or not from_:
        raise SettingsError(
            "from_ is a list of what the answer was drawn from, and may not be empty"
        )
    place, key = _where(spark, url, api_key)
    event = answer_event(
        answer_id,
        cites=citations(spark, from_),
        type=type,
        content=content,
        generated_by=generated_by or spark.conf.get("spark.app.name", None),
    )
    try:
        if not strict and time.monotonic() - _away_since.get(place, -QUIET_SECONDS) < QUIET_SECONDS:
            raise HeadwaterError(
                f"Headwater at {place} was away a moment ago and was not tried again"
            )
        send.post(place, event, api_key=key, seconds=ANSWER_SECONDS)
    except HeadwaterError as fault:
        if strict:
            raise
        _away_since.setdefault(place, time.monotonic())
        warnings.warn(
            f"answer {answer_id!r} was not recorded: {fault.message}", RuntimeWarning, stacklevel=2
        )
        return False
    _away_since.pop(place, None)
    return True
