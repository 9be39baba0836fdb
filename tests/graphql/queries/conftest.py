"""A graph for the queries of runs, nodes and lineage."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from tests.run_builders import answer, at, run, write_events

PRODUCER_COLUMNS = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]


@pytest.fixture
def history(database: Database, clean_graph: object) -> Database:
    """Write raw -> load -> a -> build -> b -> publish -> d, cited by `report`; then build fails."""
    load = run("load-1", "load", ["raw"], ["a"], minute=0, version="v7", rows=3_000_000_000)
    load[1]["outputs"][0]["facets"] = {
        "schema": {"_producer": "p", "_schemaURL": "s", "fields": PRODUCER_COLUMNS}
    }
    del clean_graph
    write_events(
        database,
        load,
        [
            native.source_event(
                "raw",
                namespace="db",
                origin="CRM",
                format="csv",
                row_count=14_200,
                captured_at=at(0),
            )
        ],
        run("build-1", "build", ["a"], ["b"], minute=10, parent="dag-1"),
        run("publish-1", "publish", ["b"], ["d"], minute=20),
        answer("report", "d", minute=25, content="churn fell"),
        run(
            "build-2",
            "build",
            ["a"],
            ["b"],
            minute=30,
            status="FAIL",
            error="disk full",
            parent="dag-1",
        ),
    )
    return database
