"""Nodes by the names that people type: one node, several, none, and nodes of other kinds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cli.backend.choice import open_backend
from headwater.client.backend import Backend
from headwater.client.names import answer_id_of, resolve
from headwater.cypher.driver.database import Database
from headwater.errors import AmbiguousError, NotFoundError, QueryError
from headwater.schema.headwater_facets import symlinks_event
from tests.canonical import empty
from tests.run_builders import answer, at, ds, job, run, run_of, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("settings_of_tests")]


@pytest.fixture(scope="module", autouse=True)
def graph(database: Database) -> Iterator[None]:
    """Write load: raw -> marts/delays, alias hive:sales.delays; clean: raw -> clean; `kpi` cites."""
    empty(database)
    one = {"namespace": "db", "name": "marts/delays"}
    same = [{"namespace": "hive", "name": "sales.delays"}]
    write_events(
        database,
        run("load-1", "load", ["raw"], ["marts/delays"], minute=0),
        run("clean-1", "clean", ["raw"], ["clean"], minute=1),
        answer("kpi", "marts/delays", minute=2),
        [symlinks_event(one, same=same, event_time=at(3))],
    )
    yield
    empty(database)


@pytest.fixture
def backend(settings_of_tests: None) -> Iterator[Backend]:
    del settings_of_tests
    with open_backend(None, None, None) as opened:
        yield opened


def test_a_name_an_id_an_alias_or_a_urn(backend: Backend) -> None:
    for text in ("delays", "marts/delays", "db:marts/delays", "sales.delays", "hive:sales.delays"):
        assert resolve(backend, text) == ds("marts/delays")
    assert resolve(backend, "load-1") == run_of("load-1")
    # A urn is not looked up.
    assert resolve(backend, "dataset:no:such") == "dataset:no:such"
    assert answer_id_of(backend, "kpi") == answer_id_of(backend, "answer:kpi") == "kpi"


def test_several_nodes_are_listed(backend: Backend) -> None:
    with pytest.raises(AmbiguousError) as refusal:
        resolve(backend, "clean")
    assert ds("clean") in refusal.value.message
    assert job("clean") in refusal.value.message
    assert resolve(backend, "clean", ("DATASET",)) == ds("clean")


def test_a_name_of_another_kind_is_no_dead_end(backend: Backend) -> None:
    with pytest.raises(NotFoundError, match="no answer has the name 'delays'") as refusal:
        answer_id_of(backend, "delays")
    assert ds("marts/delays") in refusal.value.message
    assert "lineage" in refusal.value.hint
    with pytest.raises(NotFoundError, match="no dataset has the name 'load'") as refusal:
        resolve(backend, "load", ("DATASET",))
    assert job("load") in refusal.value.message
    with pytest.raises(NotFoundError) as refusal:
        resolve(backend, "nothing")
    assert "headwater search" in refusal.value.hint
    with pytest.raises(QueryError, match="urn of a dataset"):
        answer_id_of(backend, ds("clean"))


def test_commands_take_a_bare_alias() -> None:
    for words in (["lineage", "sales.delays"], ["usage", "sales.delays", "--days", "3650"]):
        found = CliRunner().invoke(app, words, catch_exceptions=False)
        assert found.exit_code == 0, found.output


def test_a_plan_for_a_dataset_names_the_missing_option() -> None:
    found = CliRunner().invoke(app, ["replay-plan", "delays"])
    assert isinstance(found.exception, QueryError)
    assert "--since is required" in found.exception.message
    assert "--since yesterday" in found.exception.hint
