"""Every question through an API that requires keys: the same answer as from the graph itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import (
    AmbiguousError,
    ForbiddenError,
    NotFoundError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)
from tests.event_builders import dataset, run_event
from tests.run_builders import at, ds, job, run_of, write_events

pytestmark = pytest.mark.neo4j
AT = "2026-02-01T00:00:00Z"
QUESTIONS = [
    ["trace", "kpi"],
    ["lineage", ds("d")],
    ["lineage", ds("a"), ds("d"), "--direction", "upstream", "--depth", "2"],
    ["lineage", ds("a"), "--between", at(5), at(50)],
    ["lineage", ds("d"), "--namespace", "db", "--since", at(1), "--as-of", at(50)],
    ["search", "load"],
    ["search", "a", "--kind", "dataset", "--first", "1"],
    ["runs"],
    ["runs", "--status", "fail", "--namespace", "etl", "--first", "1"],
    ["jobs", "--owner", "team:mart"],
    ["datasets", "--namespace", "db", "--first", "2"],
    ["answers", "--since", at(1)],
    ["failed-runs"],
    ["failed-runs", "--since", at(1), "--namespace", "etl", "--first", "1"],
    ["root-cause", "answer:kpi"],
    ["root-cause", ds("d"), "--since", at(1)],
    ["replay-plan", run_of("load-2")],
    ["freshness", ds("d"), "--within", "36500d"],
    ["quality", ds("a")],
    ["coverage", "--days", "3650"],
    ["unused", "--days", "1"],
    ["usage", ds("a"), "--days", "3650"],
    ["owners"],
    ["owners", "team:mart"],
    ["impact", ds("a"), "--drop", "total"],
    ["impact", ds("a"), "--rename", "total:sum", "--include-stale"],
    ["impact", job("mart"), "--delete-job"],
    ["conformance"],
    ["aliases", "list"],
    ["cypher"],
    ["cypher", "failed_runs"],
    ["evidence", ds("a"), "--at", AT],
    # By name.
    ["lineage", "d"],
    ["lineage", "db:d"],
    ["lineage", "mart"],
    ["usage", "a", "--days", "3650"],
    ["root-cause", "kpi"],
    ["replay-plan", "load-2"],
    ["trace", "answer:kpi"],
]


def ask(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def without_clock(text: str) -> Any:
    """Return JSON without the ends of windows, which depend on the time of the question, and without
    the waiting events of the spool, which only the API of the tests has."""
    data = json.loads(text)
    if isinstance(data, dict):
        for key in ("since", "until", "waitingEvents"):
            data.pop(key, None)
    return data


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_the_answer_is_that_of_the_graph(
    words: list[str],
    api: str,
    keys: dict[str, str],
    settings_of_tests: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del settings_of_tests
    code = 2 if words[0] == "freshness" else 0
    here = ask(*words, "--json", code=code)
    monkeypatch.setenv("HEADWATER_URL", api)
    monkeypatch.setenv("HEADWATER_API_KEY", keys["all"])
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
    there = ask(*words, "--json", code=code)
    assert without_clock(there) == without_clock(here)
    assert len(there) > 2
    for_people = ask(*words, code=code) if words[0] != "evidence" else ""
    assert keys["all"] not in there + for_people


def test_a_profile_leads_to_the_api(
    api: str, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "headwater"
    folder.mkdir()
    (folder / "key").write_text(keys["read"])
    (folder / "key").chmod(0o600)
    (folder / "config.toml").write_text(
        f'[profiles.production]\nurl = "{api}"\napi_key_file = "key"\n'
    )
    assert "kpi" in ask("trace", "kpi", "--profile", "production")
    monkeypatch.setenv("HEADWATER_PROFILE", "production")
    assert "kpi" in ask("trace", "kpi")


def test_refusals(api: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(error: type[Exception], *words: str, key: str = "") -> str:
        monkeypatch.setenv("HEADWATER_API_KEY", key)
        with pytest.raises(error) as refusal:
            ask(*words, "--url", api)
        shown = str(refusal.value)
        assert not key or key not in shown
        return shown

    refused(UnauthorizedError, "trace", "kpi")
    refused(UnauthorizedError, "trace", "kpi", key="hw_wrong_key")
    refused(UnauthorizedError, "cypher", "failed_runs")
    refused(UnauthorizedError, "evidence", ds("a"))
    refused(ForbiddenError, "cypher", "failed_runs", key=keys["read"])
    refused(NotFoundError, "trace", "kpi", key=keys["other"])
    refused(NotFoundError, "evidence", ds("a"), key=keys["other"])
    refused(NotFoundError, "lineage", "nothing-has-this-name", key=keys["read"])
    refused(QueryError, "freshness", job("load"), "--within", "1h", key=keys["read"])
    refused(NotFoundError, "cypher", "no_such_query", key=keys["all"])


def test_code_files_are_sent_to_the_api(
    api: str, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_API_KEY", keys["read"])
    script = tmp_path / "new.sql"
    script.write_text("select total from a")
    shown = ask("impact", "a", "--drop", "total", "--file", str(script), "--url", api)
    assert "new.sql" in shown


def test_a_home_never_leads_to_another_server(
    api: str, keys: dict[str, str], tmp_path: Path, settings_of_tests: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    del settings_of_tests
    monkeypatch.setenv("HEADWATER_URL", api)
    monkeypatch.setenv("HEADWATER_API_KEY", keys["all"])
    for words in (["trace", "kpi"], ["failed-runs"], ["export"], ["evidence", ds("a")]):
        with pytest.raises(UnavailableError, match="nothing runs in") as error:
            ask(*words, "--home", str(tmp_path))
        assert f"headwater up --home {tmp_path}" in error.value.hint


def test_several_nodes_of_one_name_are_listed(
    graph: Database, api: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(
        graph, [run_event("x-1", job="x/twice", outputs=[dataset("x/twice"), dataset("y/twice")])]
    )
    monkeypatch.setenv("HEADWATER_API_KEY", keys["read"])
    with pytest.raises(AmbiguousError) as error:
        ask("lineage", "twice", "--url", api)
    assert error.value.exit_code == 7
    for urn in (ds("x/twice"), ds("y/twice"), job("x/twice")):
        assert f"  {urn}" in error.value.message.splitlines()
    assert ask("usage", "y/twice", "--url", api, "--json")


def test_status_names_the_api_and_checks_the_key(
    api: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_API_KEY", keys["read"])
    found = json.loads(ask("status", "--url", api, "--json"))
    assert (found["at"], found["ready"]) == (api, True)
    assert found["checks"]["events"]["received"] == 0
    assert "ready" in ask("status", "--url", api)
    monkeypatch.setenv("HEADWATER_API_KEY", "")
    found = json.loads(ask("status", "--url", api, "--json", code=5))
    assert (found["ready"], found["checks"]["key"]["ok"]) == (False, False)


def test_the_page_of_the_api(api: str) -> None:
    assert ask("open", "--url", api, "--print").startswith(api)
