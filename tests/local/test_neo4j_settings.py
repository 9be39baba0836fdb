"""The settings of a managed Neo4j as text."""

from __future__ import annotations

from headwater.local.neo4j_settings import Sizes, neo4j_conf, neo4j_settings, sizes_of_heap


def test_the_limits_are_in_the_settings() -> None:
    sizes = Sizes(transaction_mb=64, transaction_seconds=9, replan_seconds=7)
    settings = neo4j_settings("127.0.0.1:7687", sizes)
    assert settings["server.bolt.listen_address"] == "127.0.0.1:7687"
    assert settings["db.memory.transaction.max"] == "64m"
    assert settings["db.transaction.timeout"] == "9s"
    assert settings["dbms.cypher.min_replan_interval"] == "7s"
    assert settings["dbms.security.auth_enabled"] == "true"


def test_the_file_has_one_line_a_setting() -> None:
    comment, *lines = neo4j_conf("127.0.0.1:0", Sizes()).splitlines()
    assert comment.startswith("# ")
    assert dict(line.split("=", 1) for line in lines) == neo4j_settings("127.0.0.1:0", Sizes())


def test_a_read_only_server_names_its_database() -> None:
    writing = neo4j_settings("127.0.0.1:0", Sizes())
    reading = neo4j_settings("127.0.0.1:0", Sizes(read_only=True))
    assert reading == {**writing, "server.databases.read_only": "neo4j"}


def test_a_transaction_may_use_half_of_the_heap() -> None:
    assert sizes_of_heap(2_048) == Sizes(), "the default"
    assert sizes_of_heap(1_024, read_only=True) == Sizes(
        heap_mb=1_024, transaction_mb=512, read_only=True
    )
