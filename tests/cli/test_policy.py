"""The command `policy` on the real Neo4j: exit codes, JSON, and what each option evaluates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError
from tests.canonical import empty
from tests.event_builders import dataset_event, run_event
from tests.run_builders import answer, ds, job, write_events

pytestmark = pytest.mark.neo4j

POLICIES = """\
policies:
- {name: owned, rule: required-owners, severity: P1, match: {namespace: db}}
- {name: kept, rule: no-delete-with-consumers}
- {name: fresh, rule: fresh-before-inference, notify: oncall}
- {name: reach, rule: approval-for-blast-radius, with: {over: 1}}
"""


@pytest.fixture(scope="module")
def history(database: Database) -> Iterator[Database]:
    """raw -> load -> orders -> answer; orders has an owner, raw has none."""
    empty(database)
    owners = {"ownership": {"owners": [{"name": "team:sales"}]}}
    write_events(
        database,
        [
            dataset_event("orders", 0, owners),
            run_event("r1", minute=10, job="load", inputs=["raw"], outputs=["orders"]),
        ],
        answer("revenue", "orders", minute=20),
    )
    yield database
    empty(database)


@pytest.fixture(autouse=True)
def own_graph(history: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


@pytest.fixture
def policies(tmp_path: Path) -> str:
    (tmp_path / "policies.yaml").write_text(POLICIES)
    return str(tmp_path)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["policy", *arguments])


def checked(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = invoke("check", *arguments, "--json")
    # `main` turns an error into its exit code.
    error = result.exception
    code = error.exit_code if isinstance(error, HeadwaterError) else result.exit_code
    return code, json.loads(result.stdout)


def names(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["policy"], one["urn"]) for one in found]


def test_standing_policies_on_the_graph(policies: str) -> None:
    code, found = checked(policies)
    assert (code, found["status"]) == (1, "violated"), found
    assert names(found["violations"]) == [("owned", ds("raw"))]
    assert found["nodes"] == 2
    assert found["violations"][0]["evidence"] == {"node.name": "raw", "node.owners": []}


def test_a_delete_with_active_consumers(policies: str) -> None:
    # The events are of 2026-01-01; a consumer is active for 90 days.
    code, found = checked(policies, "--node", "orders")
    assert (code, found["violations"]) == (0, [])
    code, found = checked(policies, "--delete", "raw")
    assert names(found["violations"]) == [("reach", ds("raw"))]
    assert code == 1


def test_a_fact_that_is_unknown_is_no_permission(policies: str) -> None:
    # Nobody said how old raw is.
    code, found = checked(policies, "--for", "inference", "answer:revenue")
    assert (code, found["status"]) == (2, "unknown")
    assert names(found["unknown"]) == [("fresh", "answer:revenue")]
    assert "ageSeconds" in found["unknown"][0]["unknown"]


def test_what_cannot_be_assessed_has_code_2(policies: str, tmp_path: Path) -> None:
    assert checked(policies, "--node", ds("no"))[0] == 2
    assert checked(policies, "--node", "no-such-name")[0] == 2
    assert checked(policies, "--for", "fly", "orders")[0] == 2
    assert checked(str(tmp_path / "no"))[0] == 2
    (tmp_path / "policies.yaml").write_text("name: x\nrule: no\n")
    code, found = checked(policies)
    assert code == 2
    assert found["status"] == "unknown"
    assert found["error"].startswith("policies.yaml:2: policy x: rule: ")
    both = invoke("check", policies, "--delete", "raw", "--node", "orders")
    assert "give only one" in str(both.exception)


def test_in_words(policies: str) -> None:
    shown = invoke("check", policies).stdout
    assert f"P1 warn owned: raw has too few owners: none\n   {ds('raw')} (no owner)" in shown
    assert "1 policy on 2 nodes: 1 violation, 0 cannot be assessed" in shown


def test_examples(tmp_path: Path) -> None:
    example = "tests: [{name: nobody, given: {node.owners: []}, expect: %s}]"
    file = tmp_path / "a.yaml"
    file.write_text(f"name: a\nrule: required-owners\n{example % 'violated'}")
    result = invoke("test", str(file))
    assert (result.exit_code, result.stdout) == (0, "1 examples, 0 failed\n")
    file.write_text(f"name: a\nrule: required-owners\n{example % 'fine'}")
    result = invoke("test", str(file))
    assert result.exit_code == 1
    assert "a: nobody: expected fine, but it is violated" in result.stdout


def test_explain_shows_condition_and_facts(policies: str) -> None:
    shown = invoke("explain", policies, "owned", "orders").stdout
    assert "  size(node.owners) < 1\n" in shown
    assert '  node.owners = ["team:sales"]\n' in shown
    assert shown.endswith(f"{ds('orders')}: fine\n")
    unknown = invoke("explain", policies, "fresh", "answer:revenue").stdout
    assert "answer:revenue: unknown (" in unknown


def test_diff_shows_what_appears_and_vanishes(policies: str, tmp_path: Path) -> None:
    after = tmp_path / "after.yaml"
    after.write_text("name: described\nrule: required-description\nmatch: {name: orders}")
    result = invoke("diff", f"{policies}/policies.yaml", str(after), "--json")
    found = json.loads(result.stdout)
    assert names(found["appear"]) == [("described", ds("orders"))]
    assert names(found["vanish"]) == [("owned", ds("raw"))]


def test_history_counts_days(policies: str) -> None:
    result = invoke("history", policies, "--days", "2", "--json")
    found = json.loads(result.stdout)
    assert found["removals"] == []
    (row,) = found["violations"]
    assert (row["policy"], row["urn"], row["days"]) == ("owned", ds("raw"), 3)


def test_every_action_is_evaluated_on_jobs_too(policies: str) -> None:
    code, found = checked(policies, "--delete", job("load"))
    assert code in (0, 1)
    assert found["nodes"] == 1
