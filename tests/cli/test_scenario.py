"""`headwater scenario`: its list, refusals, and what a wrong step shows."""

from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

from headwater.cli import app, scenario
from headwater.errors import NotFoundError
from headwater.scenarios import catalogue
from headwater.scenarios.stage import Step


def test_list_names_each_scenario_with_its_fault() -> None:
    found = CliRunner().invoke(app, ["scenario", "list", "--json"])
    assert found.exit_code == 0, found.output
    rows = json.loads(found.output)
    assert tuple(row["name"] for row in rows) == catalogue.NAMES
    assert all(row["what happens"] and row["from"] for row in rows)


def test_an_unknown_name_starts_no_server() -> None:
    found = CliRunner().invoke(app, ["scenario", "nothing"])
    assert isinstance(found.exception, NotFoundError)
    assert found.exception.exit_code == 6


def test_the_environment_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_ALERT_WEBHOOKS", "http://pager")
    monkeypatch.delenv("HEADWATER_ALERTMANAGER", raising=False)
    values = {"HEADWATER_ALERT_WEBHOOKS": "http://here", "HEADWATER_ALERTMANAGER": "http://am"}
    with scenario._environment(values):
        assert os.environ["HEADWATER_ALERT_WEBHOOKS"] == "http://here"
        assert os.environ["HEADWATER_ALERTMANAGER"] == "http://am"
    assert os.environ["HEADWATER_ALERT_WEBHOOKS"] == "http://pager"
    assert "HEADWATER_ALERTMANAGER" not in os.environ


def test_a_wrong_step_shows_what_was_expected_and_found() -> None:
    from headwater.cli.render import captured_console

    out, text = captured_console()
    step = Step("consumers", "who is affected", ["a", "b"], ["a"], ok=False, lines=["a  team:x"])
    scenario.print_step(out, step)
    assert text.getvalue().splitlines() == [
        "consumers  who is affected  wrong  0 s",
        "    a  team:x",
        "    expected  ['a', 'b']",
        "    found     ['a']",
    ]
