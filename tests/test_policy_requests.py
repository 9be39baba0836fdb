"""Questions of tools to the policies of a real API, the dbt command among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import EventError, UnavailableError
from headwater.policy_requests import PolicyRefusedError, ask_policies
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.policy_servers import policy_server
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j
NAMESPACE = "postgres://db:5432"
POLICIES = """
name: finance-is-frozen
on: run
match: {name: ['shop.finance.*']}
condition: "true"
message: "{node.name} is frozen"
enforce: block
---
name: described
on: run
match: {name: ['shop.marts.orders']}
condition: "node.description == ''"
message: "{node.name} has no description"
enforce: warn
"""


@pytest.fixture(scope="module")
def address(database: Database) -> Iterator[str]:
    empty(database)
    outputs = [{**dataset("shop.marts.orders"), "namespace": NAMESPACE}]
    write_events(database, [run_event("r1", "COMPLETE", 1, job="orders", outputs=outputs)])
    with policy_server(database, POLICIES) as url:
        yield url


def request(name: str) -> dict[str, object]:
    return {"action": "write", "dataset": {"namespace": NAMESPACE, "name": name}}


def test_an_answer_names_the_policies(address: str) -> None:
    refused = ask_policies(address, request("shop.finance.ledger"))
    assert (refused.allowed, refused.reason) == (False, "")
    assert refused.explain() == "finance-is-frozen: shop.finance.ledger is frozen"
    with pytest.raises(PolicyRefusedError, match="policies refuse to write the ledger"):
        refused.require("write", "the ledger")
    warned = ask_policies(address, request("shop.marts.orders"))
    assert (warned.allowed, warned.explain()) == (
        True,
        "described: shop.marts.orders has no description",
    )


def test_no_answer_is_an_error(address: str) -> None:
    with pytest.raises(UnavailableError):
        ask_policies("http://127.0.0.1:1", request("t"), timeout_seconds=0.5)
    with pytest.raises(EventError, match="400"):
        ask_policies(address, {"action": "write"})


def manifest(folder: Path) -> str:
    def node(schema: str, name: str) -> dict[str, object]:
        model = {"resource_type": "model", "database": "shop", "schema": schema, "name": name}
        return {**model, "original_file_path": f"models/{name}.sql"}

    path = folder / "manifest.json"
    nodes = {
        "model.shop.orders": node("marts", "orders"),
        "model.shop.l": node("finance", "ledger"),
    }
    path.write_text(json.dumps({"nodes": nodes, "sources": {}}))
    return str(path)


def test_dbt_asks_before_it_writes(address: str, tmp_path: Path) -> None:
    options = ["policy", "dbt", manifest(tmp_path), "--namespace", NAMESPACE, "--url", address]
    refused = CliRunner().invoke(app, options)
    assert refused.exit_code == 1, refused.output
    assert refused.stdout.splitlines() == [
        "refused: ledger: finance-is-frozen: shop.finance.ledger is frozen",
        "warning: orders: described: shop.marts.orders has no description",
        "2 models, 1 refused",
    ]
    one = CliRunner().invoke(app, [*options, "--model", "orders", "--json"])
    assert one.exit_code == 0, one.output
    assert [row["allowed"] for row in json.loads(one.stdout)["models"]] == [True]
    assert CliRunner().invoke(app, [*options, "--model", "none"]).exit_code == 2
    dead = [*options[:-1], "http://127.0.0.1:1"]
    assert CliRunner().invoke(app, dead).exit_code == 2
