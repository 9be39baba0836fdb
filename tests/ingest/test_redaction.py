"""Secrets are gone before anything is written; everything else is untouched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.redaction import redact
from tests.histories import histories

CAPTURES = Path(__file__).parents[1] / "captures"
CANARY = "hunter2-Xk9"

SECRETS = [
    {"url": f"postgres://etl:{CANARY}@db.example.com:5432/shop"},
    {"url": f"jdbc:mysql://db:3306/shop?user=etl&password={CANARY}&ssl=true"},
    {"url": f"jdbc:sqlserver://db;user=etl;password={CANARY};encrypt=true"},
    {"url": f"https://lake.example.com/a.parquet?X-Amz-Signature={CANARY}&X-Amz-Date=20260101"},
    {"url": f"https://acct.blob.example.net/c/f?sv=2024&sig={CANARY}"},
    {"spark.hadoop.fs.s3a.secret.key": CANARY},
    {"spark.hadoop.fs.azure.account.key.x": CANARY},
    {"properties": {"dbPassword": CANARY, "port": 5432}},
    {"environmentVariables": [{"name": "DB_PASSWORD", "value": CANARY}]},
    {"environmentVariables": [{"value": CANARY, "name": "API_TOKEN"}]},
    {"environmentVariables": [{"_type": "x", "name": "GITHUB_TOKEN", "value": CANARY}]},
    {"command": f"spark-submit --conf db.password={CANARY} job.py"},
    {"query": f"CREATE SERVER s OPTIONS (user 'a', password='{CANARY}')"},
    {"header": f"Authorization: Bearer {CANARY}"},
    {"message": "denied for AKIAIOSFODNN7EXAMPLE"},
    {"message": "ghp_" + "a1B2" * 9},
    {"pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"},
    {"apiKey": f'quo"ted {CANARY}'},
]


@pytest.mark.parametrize("facet", SECRETS, ids=lambda facet: next(iter(facet)))
def test_a_secret_is_gone_and_the_event_still_json(facet: dict[str, object]) -> None:
    body = json.dumps({"run": {"runId": "r", "facets": {"custom": facet}}}).encode()
    clean = redact(body)
    for secret in (CANARY, "AKIAIOSFODNN7EXAMPLE", "ghp_a1", "MIIabc"):
        assert secret.encode() not in clean
    assert b"***" in clean
    assert json.loads(clean)["run"]["runId"] == "r"
    assert redact(clean) == clean


HARMLESS = [
    {"name": "token_counts", "namespace": "postgres://db.example.com:5432"},
    {"fields": [{"name": "password", "type": "string"}, {"name": "secret_id", "type": "long"}]},
    {"inputFields": [{"namespace": "s3://lake", "name": "users", "field": "api_key"}]},
    {"name": "s3://lake/monkey/business", "mail": "team@example.com"},
    {"query": "SELECT password, token FROM users WHERE key = 3"},
    {"description": "the key=value store of the signatures team"},
]


@pytest.mark.parametrize("facet", HARMLESS, ids=str)
def test_what_is_no_secret_stays(facet: dict[str, object]) -> None:
    body = json.dumps(facet).encode()
    assert redact(body) == body


def test_real_events_keep_every_name() -> None:
    for line in (CAPTURES / "spark_flights.jsonl").read_bytes().splitlines():
        before, after = json.loads(line), json.loads(redact(line))
        for part in ("job", "inputs", "outputs"):
            names = [
                [(d["namespace"], d["name"]) for d in e[part]] if part != "job" else e[part]["name"]
                for e in (before, after)
            ]
            assert names[0] == names[1]


@given(histories)
def test_generated_histories_are_untouched(bodies: list[bytes]) -> None:
    assert [redact(body) for body in bodies] == bodies


@given(st.binary())
def test_any_bytes_are_taken(body: bytes) -> None:
    redact(body)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["token", "a", "://", '"name":"token', "signature-", "bearer ", "-----BEGIN ", '"value":""']
)
def test_a_hostile_megabyte_takes_no_quadratic_time(piece: str) -> None:
    redact((f'"{piece * (1_000_000 // len(piece))}" token @').encode())
