"""Custom naming rules: additions, overrides, and the errors of wrong files."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.schema.facts import Name
from headwater.schema.naming import Naming, load_naming, normalise
from headwater.schema.naming_rules import read_rules
from tests.repo.repository import text as page


def own(folder: Path, text: str) -> Naming:
    path = folder / "naming.toml"
    path.write_text(text, encoding="utf-8")
    return load_naming(path)


def test_the_tables_of_our_own_file_are_in_force_without_another() -> None:
    assert load_naming() is load_naming()
    assert (
        load_naming().normalise("s3a://lake", "x/dt=1")
        == normalise("s3a://lake", "x/dt=1")
        == Name("s3://lake", "x")
    )


def test_clouds_and_hosts_become_one_by_alias(tmp_path: Path) -> None:
    naming = own(
        tmp_path,
        """
        [aliases]
        "gs://lake-copy" = "s3a://lake/"
        "wasb://box@one.blob.core.windows.net" = "abfs://box@one.dfs.core.windows.net"
        "POSTGRES://replica.example.com" = "primary"
        "primary" = "postgres://primary.example.com"
        """,
    )
    assert naming.normalise("gs://lake-copy/", "/x/dt=1") == Name("s3://lake", "x")
    assert naming.normalise("gs://lake-copy", "gs://lake-copy/x") == Name("s3://lake", "x")
    assert naming.normalise("s3://lake", "gs://lake-copy/x") == Name("s3://lake", "x")
    assert naming.normalise("wasbs://box@one.blob.core.windows.net", "x").namespace.startswith(
        "abfss://box@one.dfs"
    )
    for one in (
        "postgres://replica.example.com:5432",
        "primary",
        "postgresql://PRIMARY.example.com",
    ):
        assert naming.normalise(one, "a.b") == Name("postgres://primary.example.com:5432", "a.b")
    assert naming.normalise("s3n://other", "x/dt=1") == Name("s3://other", "x"), (
        "our own rules hold as well"
    )
    assert normalise("gs://lake-copy", "x") == Name("gs://lake-copy", "x"), (
        "and nothing is left behind"
    )


def test_a_datasource_may_be_known_by_another_word(tmp_path: Path) -> None:
    naming = own(tmp_path, '[aliases]\nfile = "laptop"\n')
    assert naming.normalise("file:///data", "x") == Name("laptop", "data/x")
    assert naming.normalise("laptop", "data/x") == Name("laptop", "data/x")


def test_partition_rules_are_added_and_switched_off(tmp_path: Path) -> None:
    naming = own(
        tmp_path,
        """
        [words]
        quarter = 'Q[1-4]'

        [partitions]
        month_compact = ""
        batch = "batch-{number}"
        quarter = "{year}/{quarter}"
        everything = "*"
        """,
    )
    for partition in ("batch-17", "2026/Q3", "*", "2026/Q3/batch-1/*", "dt=1/batch-2"):
        assert naming.normalise("s3://lake", f"x/{partition}") == Name("s3://lake", "x")
    for folder in ("202601", "batch-a", "2026/Q5", "a*"):
        assert naming.normalise("s3://lake", f"x/{folder}") == Name("s3://lake", f"x/{folder}")


def test_every_rule_of_ours_can_be_overridden(tmp_path: Path) -> None:
    naming = own(
        tmp_path,
        """
        [schemes]
        gcs = "gcs"
        minio = "s3"
        [ports]
        postgresql = 5433
        redis = 6379
        [portless]
        hdfs = false
        redis = true
        [buckets]
        s3a = false
        [paths]
        gs = "tables"
        lakefs = "keys"
        [aliases]
        "file://localhost" = "file://localhost"
        """,
    )
    assert naming.normalise("gcs://lake", "x") == Name("gcs://lake", "x")
    assert naming.normalise("minio://Lake", "/x") == Name("s3://lake", "x")
    assert naming.normalise("postgres://db", "x") == Name("postgres://db:5433", "x")
    assert naming.normalise("redis://db:6379", "x") == Name("redis://db", "x")
    assert naming.normalise("hdfs://node", "/x") == Name("hdfs://node:8020", "/x")
    assert naming.normalise("gs://lake", "/x/dt=1/") == Name("gs://lake", "/x/dt=1/")
    assert naming.normalise("lakefs://repository", "/x/dt=1/") == Name("lakefs://repository", "x")
    assert naming.normalise("file://localhost", "/x") == Name("file://localhost", "/x")


def test_normalising_twice_is_normalising_once_with_own_rules_too(tmp_path: Path) -> None:
    naming = own(
        tmp_path, '[aliases]\n"s3://a" = "gs://b"\n"gs://b" = "file"\n"kafka://k" = "s3://a"\n'
    )
    for namespace in (
        "s3a://a",
        "s3://a/x",
        "gs://b",
        "kafka://k",
        "kafka://K:9092",
        "file",
        "file:///q",
    ):
        for name in ("x", "/x/", "s3://a/x", "gs://b/x/dt=1", "s3://b/x", "file:/x"):
            once = naming.normalise(namespace, name)
            assert naming.normalise(once.namespace, once.name) == once


WRONG = {
    "[aliases": "not TOML",
    "a = '\\ud800": "not TOML",
    "[alias]\na = 'b'": "alias is no table of naming rules",
    "aliases = 3": "aliases is not a table",
    "[aliases]\na = 3": 'aliases."a" is 3',
    "[aliases]\n' ' = 'b'": 'aliases." " has an empty side',
    "[aliases]\na = ''": 'aliases."a" has an empty side',
    "[aliases]\na = 'b'\nb = 'c'\nc = 'a'": "leads to itself",
    "[aliases]\n's3://a' = 'gs://a'\n'gs://a/' = 's3a://a'": "leads to itself",
    "[aliases]\n's3://a/x' = 'gs://a'": 'aliases."s3://a/x" names a folder',
    "[aliases]\na = 'gs://a/x'": 'aliases."a" names a folder',
    "[schemes]\n's3://' = 's3'": "schemes.s3:// names no scheme",
    "[schemes]\nS3A = 's3'": "schemes.S3A names no scheme",
    "[schemes]\ns3x = 'S3'": "schemes.s3x is 'S3'",
    "[schemes]\na = 'b'\nb = 'a'": "leads to itself",
    "[ports]\nredis = '6379'": "ports.redis is '6379'",
    "[ports]\nredis = true": "ports.redis is True",
    "[ports]\nredis = 0": "ports.redis is 0, which is no port",
    "[ports]\nredis = 65536": "ports.redis is 65536, which is no port",
    "[portless]\nhdfs = 1": "portless.hdfs is 1",
    "[paths]\ns3 = 'key'": "paths.s3 is 'key'",
    "[words]\n'a-b' = 'x'": "words.a-b is no word",
    "[words]\nx = '('": "words.x is no pattern",
    "[partitions]\nx = '{week}'": "partitions.x has the unknown word {week}",
    "[partitions]\nx = '/a'": "partitions.x has a folder without a name",
    "[partitions]\nx = '{value}'": "partitions.x matches every folder",
    "[partitions]\nx = '{key}/{value}'": "partitions.x matches every folder",
    "[partitions]\nx = '{year}-{year}'": "partitions.x is no pattern",
    "[partitions]\nx = 3": "partitions.x is 3",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused_with_the_name_of_its_fault(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refusal:
        own(tmp_path, text)
    assert WRONG[text] in refusal.value.message
    assert refusal.value.message.startswith(str(tmp_path / "naming.toml"))
    assert refusal.value.hint


def test_a_mistyped_table_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refusal:
        own(tmp_path, "[partition]\n")
    assert refusal.value.hint == "Did you mean [partitions]?"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"# \xe9\n")
    for path in (tmp_path / "none.toml", tmp_path, latin):
        with pytest.raises(SettingsError, match=path.name) as refusal:
            load_naming(path)
        assert refusal.value.hint


def test_a_file_may_be_empty_or_begin_with_a_mark(tmp_path: Path) -> None:
    assert own(tmp_path, "").normalise("s3a://a", "x") == Name("s3://a", "x")
    assert own(tmp_path, "\ufeff[schemes]\nminio = 's3'\n").normalise("minio://a", "x") == Name(
        "s3://a", "x"
    )


def test_every_builtin_rule_is_listed() -> None:
    rules, documented = read_rules(), page("docs/reference/naming.md")
    for one in (
        *rules.schemes,
        *rules.ports,
        *rules.paths,
        *rules.aliases,
        *rules.words,
        *rules.partitions.values(),
    ):
        assert f"`{one}`" in documented, one
