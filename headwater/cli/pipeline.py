"""Commands about the pipelines, which run on Spark: `pipeline backfill`, `pipeline archive` and others.

A pipeline is one function here: its options, and a call of the module of that name in `headwater.pipelines`, which is
imported in the function, since pyspark takes a second to load.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.cli import pipeline_backfill
from headwater.cli.pipeline_analyse import analyse
from headwater.cli.pipeline_rollup import rollup
from headwater.cli.pipeline_stream import stream

HELP = "Pipelines on Spark: history into the graph, the spool into a lake of Parquet."
COMMANDS: dict[str, Callable[..., None]] = {
    **pipeline_backfill.COMMANDS,
    "stream": stream,
    "rollup": rollup,
    "analyse": analyse,
}
