"""Real producers in separate environments, and one Headwater that receives their events."""

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
    """A running Headwater with queries about the events that it received."""

    def __init__(self, running: Running) -> None:
        self.url = running.url
        self.home = running.home
        self._running = running

    def wait_folded(self) -> None:
        """Wait until the graph has every accepted event."""
        self._running.wait_folded()

    def send(self, event: Any) -> None:
        """Send one event, as a producer does."""
        request = urllib.request.Request(
            f"{self.url}/api/v1/lineage",
            json.dumps(event).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status < 300

    def ask(self, query: str, **variables: Any) -> Any:
        """Return the data of a GraphQL query after all accepted events are folded."""
        self._running.wait_folded()
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            content = json.load(answer)
        assert "errors" not in content, content
        return content["data"]

    def rows(self, cypher: str, **parameters: Any) -> list[Row]:
        """Return the rows of a Cypher query after all accepted events are folded."""
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
        """Return the names of all upstream datasets of a dataset in the lineage graph."""
        query = """query ($of: DatasetName!) {
          lineage(dataset: $of, direction: UPSTREAM, depth: 20, fresh: true) {
            truncated nodes { kind name } } }"""
        result = self.ask(query, of={"namespace": namespace, "name": name})["lineage"]
        assert result["truncated"] is False
        return {node["name"] for node in result["nodes"] if node["kind"] == "DATASET"} - {name}

    def runs_of(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """Return the runs of a job, oldest first."""
        query = """query ($namespace: String!, $name: String!) {
          job(namespace: $namespace, name: $name) { runs(first: 50) { nodes {
            runId status attempts error startedAt finishedAt
            parents { runId pipelineName } outputs { name } } } } }"""
        job = self.ask(query, namespace=namespace, name=name)["job"]
        assert job is not None, f"no job {name}"
        return sorted(job["runs"]["nodes"], key=lambda run: run["startedAt"] or run["finishedAt"])

    def statuses(self, namespace: str, name: str) -> list[str]:
        return [run["status"] for run in self.runs_of(namespace, name)]

    def dead_letter_count(self) -> int:
        """Return the number of accepted events that were dead-lettered."""
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
    home = tmp_path_factory.mktemp("headwater")
    # The server reads policies from here, if a test writes some.
    (home / "policies").mkdir()
    with started(neo4j_server, database, home) as running:
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
    """Run one command of a producer; the caller checks its exit code and output."""
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
