"""Parsing SQL: dialects and bounds."""

from __future__ import annotations

from headwater.code_analysis.sql.parse import dialect_of


def test_dialects_by_what_producers_say() -> None:
    assert dialect_of(None, "POSTGRES") == "postgres"
    assert dialect_of("", "dbt", "snowflake://account") == "snowflake"
    assert dialect_of("dbt", "file") == ""
