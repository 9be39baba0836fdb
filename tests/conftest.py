"""Fixtures of all tests: one real Neo4j for the whole session, a driver, a clean graph.

The server is neo4j:5.26-community in a container if a Docker engine answers. Otherwise
`headwater.local` starts the real server in a temporary home. No test uses a mock. A test that needs
the server has the mark `neo4j`.

To save the start of a server, set TEST_NEO4J=bolt://USER:PASSWORD@127.0.0.1:PORT to a running one.
The tests erase its graph.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import settings
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.lineage.view import GraphView
from headwater.local.neo4j import LocalNeo4j
from headwater.local.neo4j_settings import Sizes
from headwater.local.progress import show_jars

image = "neo4j:5.26-community"
# Tests empty the graph again and again. With Neo4j's ten seconds, most of its time goes to new plans
# of the same statements.
replan_seconds = 86_400
# The record of migrations stays, because the indexes that it describes stay.
# Property tests have no time limit per example: a busy machine is no reason to fail. `make test-fast`
# takes the profile with fewer examples.
settings.register_profile("full", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=25)
settings.load_profile("full")
erase = "MATCH (n) WHERE NOT n:Migration CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"

# An expression for `-m` that only excludes marks. A file with such a mark then has no test to run.
EXCLUSIONS = re.compile(r"not \w+(?: and not \w+)*")
MARK_NAME = re.compile(r"not (\w+)")
FILE_MARKS = re.compile(r"^pytestmark = (?:\[[^\]]*\]|.*)", re.MULTILINE)
MARK = re.compile(r"pytest\.mark\.(\w+)")


@dataclass(frozen=True)
class Neo4jServer:
    uri: str
    user: str
    password: str = field(repr=False)


def pytest_configure() -> None:
    """Remove COLUMNS, which xdist sets for its workers and which would cut tables to its width."""
    os.environ.pop("COLUMNS", None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore a file whose own marks deselect it all: importing its test data takes longer."""
    expression = config.option.markexpr
    if collection_path.suffix != ".py" or not EXCLUSIONS.fullmatch(expression):
        return None
    excluded = set(MARK_NAME.findall(expression))
    is_excluded = not excluded.isdisjoint(file_marks(collection_path.read_text(encoding="utf-8")))
    # None leaves the decision to pytest's own options.
    return True if is_excluded else None


def file_marks(text: str) -> set[str]:
    """Return the marks in the assignment to `pytestmark` of a file."""
    found = FILE_MARKS.search(text)
    return set(MARK.findall(found[0])) if found else set()


def jar_cache() -> Path | None:
    named = os.environ.get("HEADWATER_CACHE")
    return Path(named) if named else None


def docker_answers() -> bool:
    if not (os.environ.get("DOCKER_HOST") or Path("/var/run/docker.sock").exists()):
        return False
    import docker  # type: ignore[import-untyped]

    try:
        client = docker.from_env(timeout=5)
        client.ping()
    except docker.errors.DockerException:
        return False
    client.close()
    return True


@contextmanager
def container_server() -> Iterator[Neo4jServer]:
    from testcontainers.neo4j import Neo4jContainer

    container = Neo4jContainer(image, username="neo4j", password="headwater-tests")
    with container.with_env("NEO4J_dbms_cypher_min__replan__interval", f"{replan_seconds}s"):
        yield Neo4jServer(container.get_connection_url(), container.username, container.password)


@contextmanager
def local_server(home: Path) -> Iterator[Neo4jServer]:
    sizes = Sizes(replan_seconds=replan_seconds)
    with (
        show_jars() as progress,
        LocalNeo4j(home, 0, sizes=sizes, cache=jar_cache(), progress=progress) as running,
    ):
        yield Neo4jServer(running.uri, running.user, running.password)


def running_server(address: str) -> Neo4jServer:
    named = urlsplit(address)
    return Neo4jServer(
        f"bolt://{named.hostname}:{named.port}", named.username or "neo4j", named.password or ""
    )


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    running = os.environ.get("TEST_NEO4J")
    if running:
        yield running_server(running)
        return
    chosen = (
        container_server() if docker_answers() else local_server(tmp_path_factory.mktemp("neo4j"))
    )
    with chosen as server:
        yield server


@pytest.fixture(scope="session")
def graph_driver(neo4j_server: Neo4jServer) -> Iterator[Driver]:
    # An empty graph lacks most labels; the warnings about them are not useful in tests.
    with GraphDatabase.driver(
        neo4j_server.uri,
        auth=(neo4j_server.user, neo4j_server.password),
        notifications_min_severity=NotificationMinimumSeverity.OFF,
    ) as driver:
        driver.verify_connectivity()
        yield driver


@pytest.fixture
def clean_graph(graph_driver: Driver) -> Driver:
    """Every node is gone when the test starts; constraints, indexes and their record stay.
    `usefixtures` it.
    """
    with graph_driver.session() as session:
        session.run(erase).consume()
    return graph_driver


@pytest.fixture(scope="session")
def database(neo4j_server: Neo4jServer) -> Iterator[Database]:
    """Return a Headwater database on that server, with every migration applied."""
    database = Database(neo4j_server.uri, neo4j_server.user, neo4j_server.password)
    migrate(database)
    yield database
    database.close()


@pytest.fixture(scope="session")
def view(database: Database) -> GraphView:
    """Return a view of that database for a caller who sees everything, without a cache."""
    return GraphView(database)
