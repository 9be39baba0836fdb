"""GraphQL clients that people use, against a real server: each reads pages, and keeps its cache."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from tests.graphql import subscribers
from tests.graphql.clients.packages import run_script
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def url(database: Database, open_to_all: subscribers.Served) -> str:
    """Return the address of a server whose graph has three runs of two jobs."""
    write_events(
        database,
        run("r1", "load", ["raw"], ["clean"], minute=0),
        run("r2", "build", ["clean"], ["mart"], minute=10),
        run("r3", "build", ["clean"], ["mart"], minute=20, status="FAIL"),
    )
    return f"http://127.0.0.1:{open_to_all.port}/graphql"


@pytest.mark.parametrize(
    ("packages", "version"), [("graphql-16", "16.11.0"), ("graphql-17", "17.1.0")]
)
def test_graphql_codegen(url: str, packages: str, version: str) -> None:
    """Both versions of graphql-js read the introspection and generate the types."""
    found = run_script(packages, "codegen.mjs", url)
    assert found["version"] == version
    assert "export type RunsQuery" in found["types"]
    assert "export type RefetchQueryVariables" in found["types"]


def test_apollo_urql_and_graphql_ws(url: str) -> None:
    found = run_script("graphql-16", "clients.mjs", url)
    # Apollo joins the pages; its cache keeps each object once, by type and id.
    assert found["apollo"]["runs"] == ["r3", "r2", "r1"]
    assert set(found["apollo"]["keys"]) >= {
        "ROOT_QUERY",
        "PipelineRun:run:r1",
        "PipelineRun:run:r2",
        "PipelineRun:run:r3",
        "Job:job:etl:build",
        "Job:job:etl:load",
    }
    # The hash by GET is unknown at first; then GET suffices.
    assert found["apollo"]["methods"][:2] == ["GET", "POST"]
    assert set(found["apollo"]["methods"][2:]) == {"GET"}
    assert found["urql"]["runs"] == ["r3"]
    assert found["urql"]["error"] is None
    missing = found["urql"]["missing"]
    assert missing["codes"] == ["NOT_FOUND"]
    assert missing["data"]["trace"] is None
    assert missing["data"]["runs"]["totalCount"] == 3
    assert "unknown" in found["subscribed"][0]
