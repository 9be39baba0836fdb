"""Innocent texts in the shapes of configuration, SQL and messages, for false positives."""

from __future__ import annotations

import base64
import random
import uuid

from tests.ingest.receive.unseen_secrets import HOSTS, WORDS, Planted


def innocent(seed: int, count: int = 500) -> list[Planted]:
    """Return texts that must stay as they are."""
    chance = random.Random(seed)
    makers = list(_INNOCENT.items())
    return [
        Planted(kind, template.format(**_plain_values(chance)), "")
        for kind, template in (
            (kind, chance.choice(templates))
            for kind, templates in (makers[number % len(makers)] for number in range(count))
        )
    ]


def _plain_values(chance: random.Random) -> dict[str, str]:
    return {
        "uuid": str(uuid.UUID(int=chance.getrandbits(128))),
        "sha": f"{chance.getrandbits(256):064x}",
        "md5": f"{chance.getrandbits(128):032x}",
        "git": f"{chance.getrandbits(160):040x}",
        "word": chance.choice(WORDS),
        "other": chance.choice(WORDS),
        "host": chance.choice(HOSTS),
        "number": str(chance.randint(10**9, 10**13)),
        "small": str(chance.randint(1, 999)),
        "month": f"{chance.randint(1, 12):02d}",
        "b64": base64.b64encode(chance.randbytes(24)).decode(),
    }


_INNOCENT: dict[str, tuple[str, ...]] = {
    "hash": ("sha256:{sha}", "{md5}", "commit {git}", "checksum={sha}", 'etag "{md5}"', "{b64}"),
    "uuid": ("{uuid}", "run {uuid} of {word}", "urn:uuid:{uuid}", "id={uuid};", "{{{uuid}}}"),
    "path": (
        "s3://bucket/{word}/dt=2024-{month}-01/part-00000-{uuid}-c000.snappy.parquet",
        "/user/hive/warehouse/{word}.db/{other}",
        "abfss://container@account.dfs.core.windows.net/{word}",
        "hdfs://{host}:8020/{word}/_temporary/0",
        "gs://bucket/{word}/tokenized/v{small}",
        "file:/opt/spark/jars/spark-core_2.12-3.5.{small}.jar",
        "/etc/ssl/certs/passkey/{word}.pem",
    ),
    "sql": (
        "SELECT token, password_hash FROM {word} WHERE id = {number}",
        "SELECT key, value FROM {word} JOIN {other} USING (key)",
        "SELECT secret IS NULL AS has_secret FROM {word}",
        "CREATE TABLE {word} (password STRING, api_key STRING, auth BOOLEAN)",
        "INSERT INTO {word} SELECT pass, pwd FROM {other}",
        "WHERE token = {other}.token AND password = {other}.password",
        "SELECT count(*) FROM {word} GROUP BY primary_key, auth_user",
        "ALTER TABLE {word} ADD PRIMARY KEY (order_key)",
        "SELECT sort_key, partition_key FROM {word} LIMIT {small}",
        "SELECT pass_count, pw.id FROM {word} pw",
        "GRANT SELECT ON {word} TO auth_reader",
    ),
    "version": (
        "3.5.{small}",
        "openlineage-spark_2.12-1.{small}.0",
        "Python 3.11.{small} (main, 2024-{month}-01)",
        "v{small}.0.0-rc.1+build.{number}",
        "linux/amd64 kernel 5.15.0-{small}-generic",
    ),
    "id": (
        "application_{number}_0001",
        "job_{number}_{small}",
        "attempt_{number}_0001_m_000000_0",
        "container_e{small}_{number}_01_000001",
        "scheduled__2024-{month}-01T00:00:00+00:00",
        "order {number} of customer {small}",
        "snapshot-id={number}",
        "offset {number}:{small}",
    ),
    "address": (
        "postgresql://{host}:5432/{word}",
        "jdbc:postgresql://{host}:5432/{word}?ssl=true",
        "kafka://{host}:9092/{word}",
        "http://{host}:8080/{word}?page={small}&key=value",
        "https://{host}/docs#authentication",
        "arn:aws:s3:::bucket/{word}",
        "arn:aws:iam::{small}456789012:role/{word}",
        "git@github.com:org/{word}.git",
        "https://{host}/x?sort=key&auth=basic",
    ),
    "message": (
        "Unexpected token: FROM at line {small}",
        "Key not found: {word}",
        "no password given for user etl",
        "password must not be empty",
        "The secret of good tests is patience",
        "Authorization failed for {word}: missing grant",
        "token expired after {small} s",
        "passed {small} of {number} checks",
        "Cannot broadcast the table larger than 8GB: {small} GB",
        "key=value pairs are separated by commas",
        "Missing keys: {word}, {other}",
        "the password policy is documented in the wiki",
        "auth: ok, pass: true, pw: none",
        "foreign key: {word}_id references {other}",
        "rows passed: {number}",
        "invalid password for user etl",
    ),
    "configuration": (
        "spark.sql.shuffle.partitions={small}",
        "spark.kryo.registrator={word}",
        "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer",
        "spark.hadoop.fs.s3a.path.style.access=true",
        "spark.authenticate=false",
        "sort.key={word}",
        "primary_key: {word}_id",
        "partition-key: order_date",
        "max_tokens: {small}",
        "spark.yarn.tags=auth,{word}",
        "tokenizer={word}",
        "password.required=true",
        "cookie.path=/",
        "auth.type=basic",
    ),
}
