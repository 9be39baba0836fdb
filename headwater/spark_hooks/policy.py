"""`check_write`: ask the policies before a Spark job writes, drops or exports a dataset.

    from headwater.spark_hooks.policy import check_write

    check_write(spark, "/lake/marts/customers")
    frame.write.parquet("/lake/marts/customers")

A policy that blocks raises PolicyRefusedError, which names it. A Headwater that does not answer
causes a warning and costs two seconds at most; with `strict=True` it raises.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError, SettingsError
from headwater.policy_requests import PolicyAnswer, ask_policies
from headwater.spark_hooks import listener
from headwater.spark_hooks.datasets import citations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIMEOUT_SECONDS = 2.0


def check_write(
    spark: SparkSession,
    target: str | os.PathLike[str] | Mapping[str, str],
    *,
    action: str = "write",
    purpose: str = "",
    url: str | None = None,
    api_key: str | None = None,
    strict: bool = False,
) -> PolicyAnswer | None:
    """Raise if policies refuse an action on a dataset.

    Args:
        spark: The session that is about to act.
        target: A path, the name of an existing table, or a mapping with `namespace` and `name`.
        action: `write`, `drop`, `delete`, `change`, `export`, `inference` or `read`.
        purpose: What the data is for.
        url: Address of Headwater; by default that of `configure` or spark-defaults.conf.
        api_key: API key; by default that of the session.
        strict: Raise also if Headwater does not answer.

    Returns:
        The answer, with the policies that only warn; None if Headwater did not answer.

    Raises:
        SettingsError: An argument is wrong, or the target is no dataset.
        PolicyRefusedError: A policy refuses the action.
        HeadwaterError: Headwater did not answer; only if `strict`.
    """
    named = citations(spark, [target])
    if len(named) != 1 or "namespace" not in named[0]:
        raise SettingsError(f"the target must be one dataset: {target!r}")
    address = url or spark.conf.get(listener.URL, None)
    if not address:
        raise SettingsError(
            "this Spark session has no address of Headwater",
            hint="Use configure(), or pass url=.",
        )
    dataset = {"namespace": named[0]["namespace"], "name": named[0]["name"]}
    request = {
        "action": action,
        "dataset": dataset,
        "purpose": purpose,
        "actor": f"spark:{spark.conf.get('spark.app.name', None) or ''}",
    }
    key = api_key or spark.conf.get(listener.API_KEY, None)
    try:
        answer = ask_policies(address, request, api_key=key, timeout_seconds=TIMEOUT_SECONDS)
    except HeadwaterError as fault:
        if strict:
            raise
        warnings.warn(f"policies were not asked: {fault.message}", RuntimeWarning, stacklevel=2)
        return None
    answer.require(action, f"{dataset['namespace']} {dataset['name']}")
    return answer
