"""The command that keeps findings in step with the graph: `detect`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, connect, settings_of
from headwater.cli.serve import protect_files, set_on_signal

if TYPE_CHECKING:
    from headwater.health.findings.detector import Detector

# The API and the worker come first on a busy machine.
DETECTOR_NICENESS = 10


def detect(
    home: Home = None,
    once: Annotated[
        bool, typer.Option("--once", help="Derive all findings once, print how many, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the detector, which derives findings from the Neo4j of the settings as it changes.

    For example: headwater detect --once"""
    os.nice(DETECTOR_NICENESS)
    settings = settings_of(home)
    protect_files(settings)
    from headwater.cypher.migrate import migrate
    from headwater.governance.policies.store import policy_store
    from headwater.health.alerts.service import alert_service
    from headwater.health.findings.detector import Detector
    from headwater.ingest.spool.spool import Spool
    from headwater.logs.configure import start_logs

    start_logs(settings.log_level, settings.log_format)
    database = connect(settings)
    spool = Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
    try:
        with alert_service(database, settings, delivers=not once) as alerts:
            detector = Detector(
                database,
                spool=spool,
                enqueue=alerts.enqueue,
                policies=policy_store(settings),
                lag_limit=settings.stream_lag_limit,
            )
            if once:
                migrate(database)
                _print_full_pass(detector, as_json=as_json)
            else:
                set_on_signal(detector.stop)
                detector.run()
    finally:
        spool.close()
        database.close()


def _print_full_pass(detector: Detector, *, as_json: bool) -> None:
    from headwater.cli import render

    swept = detector.full_pass()
    data = {
        "nodes": swept.subjects,
        "findings": swept.findings,
        "open": swept.open,
        "changed": swept.changes.count,
    }
    if as_json:
        render.print_json(data)
        return
    print(
        f"{render.with_noun(swept.subjects, 'node')}, {render.with_noun(swept.findings, 'finding')}"
        f" ({swept.open:,} open), {swept.changes.count:,} changed"
    )


COMMANDS = {"detect": detect}
