"""Statements with the tables that openlineage-sql finds: no columns, no schemas."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.producers.conftest import Shop
from tests.producers.environments import plain_environment

pytestmark = [pytest.mark.neo4j, pytest.mark.producers, pytest.mark.slow, pytest.mark.timeout(600)]

SENDER = Path(__file__).parent / "sql_sender.py"
TABLES = "postgres://till:5432"
STATEMENTS = {
    "load": "insert into sales select * from staging.sales_today",
    # With `paid` as a common table expression, the parser omits payments and cards.
    "join": """create table mart.spent as select s.customer, count(*) from sales s
        join (select p.order_id from payments p join cards c on c.id = p.card) paid on paid.order_id
        = s.id
        group by 1""",
    "merge": """merge into mart.customers as t using mart.spent as s on t.id = s.customer
        when matched then update set seen = true""",
}


@pytest.fixture(scope="module")
def sent(shop: Shop, dbt_programs: Path) -> Shop:
    command = [str(dbt_programs / "python"), str(SENDER), shop.url, TABLES]
    statements = json.dumps(list(STATEMENTS.items()))
    done = subprocess.run(
        command,
        input=statements,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return shop


def test_every_table_and_nothing_else(sent: Shop) -> None:
    """`paid` is a name inside a statement, not a table."""
    assert sent.datasets(TABLES) == {
        "public.sales",
        "staging.sales_today",
        "public.payments",
        "public.cards",
        "mart.spent",
        "mart.customers",
    }


def test_lineage_through_three_statements(sent: Shop) -> None:
    assert sent.upstream(TABLES, "mart.customers") == {
        "mart.spent",
        "public.sales",
        "staging.sales_today",
        "public.payments",
        "public.cards",
    }
    assert sent.upstream(TABLES, "mart.spent") >= {"public.sales", "public.cards"}


def test_statements_are_stored_unchanged(sent: Shop) -> None:
    for name, statement in STATEMENTS.items():
        query = (
            "query ($namespace: String!, $name: String!) { job(namespace: $namespace, "
            "name: $name) { sql } }"
        )
        assert sent.ask(query, namespace=TABLES, name=name)["job"] == {"sql": statement}
