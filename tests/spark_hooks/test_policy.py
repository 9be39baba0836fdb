"""`check_write` in a real Spark against a real API: a policy stops a write before it begins."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import SettingsError, UnavailableError
from headwater.policy_requests import PolicyRefusedError
from headwater.spark_hooks.policy import check_write
from tests.canonical import empty
from tests.policy_servers import policy_server

pytestmark = [pytest.mark.neo4j, pytest.mark.spark, pytest.mark.slow]
POLICIES = """
name: frozen
on: run
match: {name: ['*/frozen']}
condition: "true"
message: "{node.name} is frozen"
enforce: block
"""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .appName("checked")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def address(database: Database) -> Iterator[str]:
    empty(database)
    with policy_server(database, POLICIES) as url:
        yield url


def test_a_policy_stops_a_write_before_it_begins(spark: Any, address: str, tmp_path: Path) -> None:
    def write(path: Path) -> None:
        check_write(spark, path, url=address)
        spark.range(3).write.parquet(str(path))

    write(tmp_path / "free")
    assert spark.read.parquet(str(tmp_path / "free")).count() == 3
    with pytest.raises(PolicyRefusedError, match=r"frozen: .*/frozen is frozen"):
        write(tmp_path / "frozen")
    assert not (tmp_path / "frozen").exists()


def test_an_absent_headwater_stops_a_write_only_if_told_so(spark: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert check_write(spark, tmp_path / "t", url="http://127.0.0.1:1") is None
    assert "policies were not asked" in str(caught[0].message)
    with pytest.raises(UnavailableError):
        check_write(spark, tmp_path / "t", url="http://127.0.0.1:1", strict=True)
    with pytest.raises(SettingsError, match="no address"):
        check_write(spark, tmp_path / "t")
