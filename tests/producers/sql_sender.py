"""A sender of events with the tables that openlineage-sql finds in statements, without columns.

It runs in dbt's environment, which has that parser: `python sql_sender.py URL NAMESPACE`. Standard
input is a JSON list of [job, statement].
"""

# mypy: ignore-errors

from __future__ import annotations

import json
import sys
import uuid
from datetime import UTC, datetime

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import sql_job
from openlineage.client.transport.http import HttpConfig, HttpTransport
from openlineage.common.sql import parse


def main(url: str, namespace: str) -> None:
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=url)))
    for name, statement in json.load(sys.stdin):
        parsed = parse([statement], dialect="postgres", default_schema="public")
        assert parsed is not None
        assert not parsed.errors, [error.message for error in parsed.errors]
        client.emit(
            RunEvent(
                eventTime=datetime.now(UTC).isoformat(),
                eventType=RunState.COMPLETE,
                run=Run(str(uuid.uuid4())),
                job=Job(namespace, name, {"sql": sql_job.SQLJobFacet(statement)}),
                producer="https://example.com/sql",
                inputs=[
                    InputDataset(namespace, table.qualified_name) for table in parsed.in_tables
                ],
                outputs=[
                    OutputDataset(namespace, table.qualified_name) for table in parsed.out_tables
                ],
            )
        )
    client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
