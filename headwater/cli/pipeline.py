"""Commands about the pipelines: `pipeline backfill`, `pipeline archive` and others.

Each command holds its options and calls the module of that name in `headwater.pipelines`. The
import happens inside the function, because pyspark takes a second to load.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any

from headwater.cli import pipeline_backfill
from headwater.cli.pipeline_analyse import analyse
from headwater.cli.pipeline_rollup import rollup
from headwater.cli.pipeline_stream import stream
from headwater.errors import QueryError

HELP = "Run pipelines: fold archives and streams, archive the spool, roll up, analyse."
_PACKAGES = ("pyspark", "pyarrow", "pandas")


def _on_spark(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that names a missing package before it starts."""

    @wraps(command)
    def checked(*arguments: Any, **options: Any) -> None:
        for package in _PACKAGES:
            if find_spec(package) is None:
                raise QueryError(
                    f"this pipeline needs the package {package}",
                    hint="pip install 'headwater[pipelines]'",
                )
        command(*arguments, **options)

    return checked


COMMANDS: dict[str, Callable[..., None]] = {
    **{name: _on_spark(command) for name, command in pipeline_backfill.COMMANDS.items()},
    "stream": _on_spark(stream),
    "rollup": rollup,
    "analyse": _on_spark(analyse),
}
