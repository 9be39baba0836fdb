"""Commands about the pipelines, which run on Spark: `pipeline backfill`, `pipeline archive` and others.

A pipeline is one function here: its options, and a call of the module of that name in `headwater.pipelines`, which is
imported in the function, since pyspark takes a second to load.
"""

from __future__ import annotations

from collections.abc import Callable

HELP = "Pipelines on Spark: history into the graph, the spool into a lake of Parquet."
COMMANDS: dict[str, Callable[..., None]] = {}
