"""Commands about the pipelines: `pipeline backfill`, `pipeline archive` and others.

Each command holds its options and calls the module of that name in `headwater.pipelines`. The
import happens inside the function, because pyspark takes a second to load.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.cli import pipeline_backfill
from headwater.cli.pipeline_analyse import analyse
from headwater.cli.pipeline_rollup import rollup
from headwater.cli.pipeline_stream import stream

HELP = "Run pipelines: fold archives and streams, archive the spool, roll up, analyse."
COMMANDS: dict[str, Callable[..., None]] = {
    **pipeline_backfill.COMMANDS,
    "stream": stream,
    "rollup": rollup,
    "analyse": analyse,
}
