"""Real producers in environments of their own, and one Headwater that receives their events."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Row
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import Running, started
from tests.producers.environments import plain_environment, programs_of


class Shop:
    """A running Headwater, and questions about what has been sent to it."""

    def __init__(self, running: Running) -> None:
        self.url = running.url
        self._running = running

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of a GraphQL answer, once everything accepted so far is in the graph."""
        self._running.wait_folded()
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            said = json.load(answer)
        assert "errors" not in said, said
        return said["data"]

    def rows(self, cypher: str, **parameters: Any) -> list[Row]:
        """What Neo4j itself answers, once everything accepted so far is in the graph."""
        self._running.wait_folded()
        return list(self._running.database.ask(cypher, parameters))

    def datasets(self, namespace: str) -> set[str]:
        return {
            row["name"]
            for row in self.rows(
                "MATCH (d:Dataset {namespace: $n}) RETURN d.name AS name", n=namespace
            )
        }

    def upstream(self, namespace: str, name: str) -> set[str]:
        """The names of all datasets that one comes from, by the map."""
        query = """query ($of: DatasetName!) { lineage(dataset: $of, direction: UPSTREAM, depth: 20, fresh: true) {
          truncated nodes { kind name } } }"""
        found = self.ask(query, of={"namespace": namespace, "name": name})["lineage"]
        assert found["truncated"] is False
        return {node["name"] for node in found["nodes"] if node["kind"] == "DATASET"} - {name}

    def runs_of(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """The runs of a job, oldest first."""
        query = """query ($namespace: String!, $name: String!) { job(namespace: $namespace, name: $name) {
          runs(first: 50) { nodes { runId status attempts error startedAt finishedAt
            parents { runId pipelineName } outputs { name } } } } }"""
        job = self.ask(query, namespace=namespace, name=name)["job"]
        assert job is not None, f"no job {name}"
        return sorted(job["runs"]["nodes"], key=lambda run: run["startedAt"] or run["finishedAt"])

    def statuses(self, namespace: str, name: str) -> list[str]:
        return [run["status"] for run in self.runs_of(namespace, name)]

    def set_aside(self) -> int:
        """How many events were accepted and could not be folded."""
        self._running.wait_folded()
        spool = Spool(self._running.home / "spool.db")
        try:
            return read_checkpoint(self._running.database, spool.id).dead
        finally:
            spool.close()


@pytest.fixture(scope="package")
def shop(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    with started(neo4j_server, database, tmp_path_factory.mktemp("headwater")) as running:
        yield Shop(running)


@pytest.fixture(scope="session")
def dbt_programs() -> Path:
    return programs_of("dbt")


@pytest.fixture(scope="session")
def airflow_programs() -> Path:
    return programs_of("airflow")


def run(
    programs: Path, folder: Path, *command: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """One command of a producer; what it says of its failure is for the caller to judge."""
    path = f"{programs}:{plain_environment()['PATH']}"
    return subprocess.run(
        command,
        cwd=folder,
        env=plain_environment(PATH=path, **environment),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
