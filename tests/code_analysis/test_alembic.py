"""Migrations of Alembic, and models that lie elsewhere than in models/."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.gate.changes import find_changes
from headwater.gate.repository import FileChange

MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "2"

def upgrade():
    {}

def downgrade():
    op.drop_table("never")
"""


def added(text: str, path: str) -> FileChange:
    return FileChange(None, path, None, text)


@pytest.mark.parametrize(
    ("call", "table", "changes"),
    [
        ("op.drop_column('orders', 'note')", "orders", [{"type": "column_drop", "column": "note"}]),
        (
            "op.drop_column('orders', 'note', schema='shop')",
            "shop.orders",
            [{"type": "column_drop", "column": "note"}],
        ),
        (
            "op.add_column('orders', sa.Column('tenant', sa.Text(), nullable=False))",
            "orders",
            [{"type": "column_add", "column": "tenant", "nullable": False}],
        ),
        (
            (
                "op.alter_column('orders', 'a', type_=sa.String(10), existing_type=sa.Text(),"
                " new_column_name='b')"
            ),
            "orders",
            [
                {"type": "column_type_change", "column": "a", "to": "String(10)", "from": "Text()"},
                {"type": "column_rename", "from": "a", "to": "b"},
            ],
        ),
        ("op.alter_column('orders', 'a', nullable=True)", "orders", []),
        ("op.drop_table('orders')", "orders", [{"type": "table_drop"}]),
        ("op.rename_table('orders', 'sales')", "orders", [{"type": "table_rename", "to": "sales"}]),
        (
            "op.execute('alter table orders drop column a')",
            "orders",
            [{"type": "column_drop", "column": "a"}],
        ),
        ("op.execute(sa.text('drop table orders'))", "orders", [{"type": "table_drop"}]),
        ("op.create_index('i', 'orders', ['a'])", "orders", []),
    ],
)
def test_changes_of_an_upgrade(call: str, table: str, changes: list[dict[str, Any]]) -> None:
    found = find_changes([added(MIGRATION.format(call), "migrations/versions/2.py")])
    assert found.problems == []
    assert [(delta.table, dict(delta.change), delta.line) for delta in found.changes] == [
        (table, change, 8) for change in changes
    ]


@pytest.mark.parametrize(
    "call",
    [
        "op.drop_column(TABLE, 'note')",
        "op.execute(f'drop table {name}')",
        "op.batch_alter_table('orders')",
        "op.execute(statement)",
    ],
)
def test_a_call_known_only_at_run_time_blocks(call: str) -> None:
    (problem,) = find_changes([added(MIGRATION.format(call), "migrations/versions/2.py")]).problems
    assert problem.line == 8


def test_a_model_is_known_by_its_template_wherever_it_lies() -> None:
    before, after = ("select a, b from {{ ref('t') }}", "select a from {{ ref('t') }}")
    found = find_changes([FileChange("transform/m.sql", "transform/m.sql", before, after)])
    assert [(delta.table, dict(delta.change)) for delta in found.changes] == [
        ("m", {"type": "column_drop", "column": "b"})
    ]
    assert find_changes([FileChange("tests/m.sql", "tests/m.sql", before, after)]).changes == []


def test_a_table_over_jdbc() -> None:
    job = "df = spark.table('t').select('a', 'b')\ndf.write.jdbc(url, 'shop.orders')\n"
    found = find_changes([FileChange("j.py", "j.py", job, job.replace(", 'b'", ""))])
    assert (found.changes[0].table, dict(found.changes[0].change)) == (
        "shop.orders",
        {"type": "column_drop", "column": "b"},
    )
