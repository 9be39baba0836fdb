"""Redaction removes secrets, hashes personal data, and changes nothing else."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.receive.redact import Redactor
from tests.histories import histories

CAPTURES = Path(__file__).parents[2] / "captures"
CANARY = "hunter2-Xk9"
CARD = "4111 1111 1111 1111"
redact = Redactor(b"a key of the tests").redact

SECRETS: list[dict[str, Any]] = [
    {"url": f"postgres://etl:{CANARY}@db.example.com:5432/shop"},
    {"url": f"postgres://etl:p@ss:{CANARY}@db.example.com:5432/shop"},
    {"url": f"s3://AKIAIOSFODNN7EXAMPLE:ab/{CANARY}@bucket/x"},
    {"url": f"jdbc:oracle:thin:scott/{CANARY}@//db:1521/x"},
    {"url": f"jdbc:mysql://db:3306/shop?user=etl&password={CANARY}&ssl=true"},
    {"url": f"jdbc:sqlserver://db;user=etl;password={CANARY};encrypt=true"},
    {"url": f"https://lake.example.com/a.parquet?X-Amz-Signature={CANARY}&X-Amz-Date=20260101"},
    {"url": f"https://lake.example.com/a.parquet?X-Amz-Credential={CANARY}%2Fs3"},
    {"url": f"https://storage.googleapis.com/b/o?X-Goog-Algorithm=a&X-Goog-Signature={CANARY}"},
    {"url": f"https://cdn.example.com/a?Expires=1&Signature={CANARY}&Key-Pair-Id={CANARY}"},
    {"url": f"https://acct.blob.example.net/c/f?sv=2024&sig={CANARY}"},
    {
        "message": (
            f"no access to "
            f"https://acct.blob.example.net/c/f?sp={CANARY}&sig={CANARY} after a minute"
        )
    },
    {"spark.hadoop.fs.s3a.secret.key": CANARY},
    {"spark.hadoop.fs.azure.account.key.x": CANARY},
    {"properties": {"dbPassword": CANARY, "port": 5432}},
    {"passwords": ["***", CANARY]},
    {"pwd": 123456, "x": f"token={CANARY}"},
    {"environmentVariables": [{"name": "DB_PASSWORD", "value": CANARY}]},
    {"environmentVariables": [{"value": CANARY, "name": "API_TOKEN"}]},
    {
        "environmentVariables": [
            {"_type": "x", "name": "GITHUB_TOKEN", "note": "y", "value": CANARY}
        ]
    },
    {"environmentVariables": [{"value": CANARY, "in": {"name": "x"}, "name": "GITHUB_TOKEN"}]},
    {"command": f"spark-submit --conf db.password={CANARY} job.py"},
    {"command": f"mysql --password {CANARY} --user x"},
    {"query": f"CREATE SERVER s OPTIONS (user 'a', password='{CANARY}')"},
    {"query": f"CREATE USER a PASSWORD '{CANARY}'"},
    {"query": f"CREATE USER a IDENTIFIED BY '{CANARY}'"},
    {"message": f"unexpected password: '{CANARY}'"},
    {"conf": f'sasl.jaas.config=x required username="a" password="{CANARY}";'},
    {"conf": json.dumps({"deep": json.dumps({"api_key": CANARY})})},
    {"header": f"Authorization: Bearer {CANARY}"},
    {"header": f"Authorization: Basic {CANARY}"},
    {"headers": {"Authorization": f"Digest {CANARY}"}},
    {"message": "denied for AKIAIOSFODNN7EXAMPLE"},
    {"message": "ghp_" + "a1B2" * 9},
    {"message": "it was eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefgh-Xk9"},
    {"pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"},
    {"apiKey": f'quo"ted {CANARY}'},
    {"namespace": f"s3://{CANARY}:{CANARY}@bucket", "token": "x"},
    {f"jdbc:postgresql://u:{CANARY}@h/db": {}, "token": "x"},
]


def escaped(body: bytes) -> bytes:
    """Return the same JSON with optional escapes."""
    return (
        body.replace(b"/", rb"\/")
        .replace(b"@", rb"\u0040")
        .replace(b"s", rb"\u0073")
        .replace(b"=", rb"\u003D")
    )


def facet_of(facet: dict[str, Any]) -> bytes:
    return json.dumps({"run": {"runId": "r", "facets": {"custom": facet}}}).encode()


@pytest.mark.parametrize("facet", SECRETS, ids=lambda facet: next(iter(facet)))
def test_a_secret_is_redacted_and_the_event_stays_json(facet: dict[str, Any]) -> None:
    body = facet_of(facet)
    clean = redact(body)
    for secret in (CANARY, "AKIAIOSFODNN7EXAMPLE", "ghp_a1", "MIIabc", "eyJhb"):
        assert secret.encode() not in clean
    assert b"***" in clean
    assert json.loads(clean)["run"]["runId"] == "r"
    assert redact(clean) == clean
    assert json.loads(redact(escaped(body))) == json.loads(clean)


HARMLESS: list[dict[str, Any]] = [
    {"name": "token_counts", "namespace": "postgres://db.example.com:5432"},
    {"fields": [{"name": "password", "type": "string"}, {"name": "secret_id", "type": "long"}]},
    {
        "fields": {
            "password": {"inputFields": [{"namespace": "n", "name": "t", "field": "password"}]}
        }
    },
    {
        "type": "struct<password:string,token:int,cookie:string>",
        "plan": "root |-- password: string (nullable = true)",
    },
    {"inputFields": [{"namespace": "s3://lake", "name": "users", "field": "api_key"}]},
    {"name": "s3://lake/monkey/business", "url": "git@github.com:owner/name.git"},
    {"query": "SELECT password, token FROM users WHERE key = 3"},
    {"message": "line 3: unexpected password: 'FROM', near \"SELECT password FROM users\""},
    {"description": "the key=value store of the signatures team"},
    {"owners": [{"name": "team@example.com", "type": "MAINTAINER"}], "userName": "ana@example.com"},
    {"name": "report for ana@example.com", "namespace": "abfss://data@acct.dfs.core.windows.net"},
    {"plan": "Relation [id] abfss://data@acct.dfs.core.windows.net/sales org.apache.Foo@1a2b3c4d"},
    {
        "rowCount": 4111111111111111,
        "snapshotId": "4111111111111111",
        "datasetVersion": "6011000990139424",
    },
    {"applicationId": "local-4111111111111111", "startTime": "4111111111111111"},
    {
        "query": (
            "WHERE at > 1700000000000 AND id = 4111111111111112 AND day IN "
            "('2026-01-01', '2026-01-02')"
        )
    },
    {
        "message": (
            "part-00000-41111111-1111-1111-1111-111111111111.parquet, "
            "4111111111111111abc, 0.4111111111111111"
        )
    },
    {"query": "SELECT * FROM t WHERE name = 'x' -- can't say"},
    {
        "stackTrace": (
            'File "/srv/etl.py", line 10, in load\n  can\'t go on\njava.lang.X: '
            "y\n\tat a.b.C.d(C.java:7)"
        )
    },
]


@pytest.mark.parametrize("facet", HARMLESS, ids=str)
def test_other_text_is_unchanged(facet: dict[str, Any]) -> None:
    body = json.dumps(facet).encode()
    assert redact(body) == body
    assert json.loads(redact(escaped(body))) == facet


def texts(facet: dict[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = json.loads(redact(json.dumps(facet).encode()))
    return clean


@pytest.mark.parametrize(
    "key", ["query", "externalQuery", "sourceCode", "plan", "description", "message", "value"]
)
@pytest.mark.parametrize(
    "personal", ["ana.lee+x@mail.example.com", "ANA@EXAMPLE.ORG", "ana%40example.com", CARD]
)
def test_an_address_or_a_card_in_a_text_is_hashed(key: str, personal: str) -> None:
    query = f"SELECT 1 FROM t WHERE a = '{personal}' OR b = \"{personal}\"\n{personal}, {personal};"
    text = texts({key: query})[key]
    assert personal not in text
    marks = re.findall(r"<(?:email|card):[0-9a-f]{12}>", text)
    assert (len(marks), len(set(marks))) == (4, 1)
    assert text == query.replace(personal, marks[0])
    assert json.loads(redact(escaped(json.dumps({key: query}).encode())))[key] == text


def test_the_same_address_is_the_same_hash_and_under_another_key_another() -> None:
    body = json.dumps({"q": "Ana@Example.com"}).encode()
    assert redact(body) == redact(body.lower())
    assert redact(body) != redact(body.replace(b"Ana", b"Eva"))
    assert redact(body) != Redactor(b"another key, of other people").redact(body)


@pytest.mark.parametrize(
    "card",
    [
        "4111111111111111",
        "4111-1111-1111-1111",
        "5555555555554444",
        ("3782 822463 10005"),
        "378282246310005",
        "30569309025904",
        "6011000990139424",
        "4222222222222",
        "3530111333300000",
        "6304000000000000000",
    ],
)
@pytest.mark.parametrize(
    "where", ["{}", "'{}'", "3 {} 9 10", "IN ({},{})", "card:{}", "2024 {}. Then", "4111 {} 12a"]
)
def test_every_card_number_is_hashed(card: str, where: str) -> None:
    text = texts({"query": where.format(card, card)})["query"]
    assert card not in text
    assert "<card:" in text


def test_every_spelling_of_a_card_number_has_one_hash() -> None:
    assert (
        len(
            {
                texts({"q": f"a {card}"})["q"]
                for card in (CARD, CARD.replace(" ", ""), CARD.replace(" ", "-"))
            }
        )
        == 1
    )


def test_one_location_has_one_name_for_all_credentials() -> None:
    for location in ("postgres://{}db:5432", "s3://{}bucket", "jdbc:postgresql://{}h/db"):
        credentials = ("", "u:p1@", "u:p2@", "AKIAIOSFODNN7EXAMPLE:a/b+c@", "ana@example.com:x@")
        for key in ("namespace", "name", "uri"):
            names = {texts({key: location.format(credential)})[key] for credential in credentials}
            assert names == {location.format("")}


def test_a_stack_trace_keeps_its_frames_without_its_data() -> None:
    trace = (
        "org.postgresql.util.PSQLException: ERROR: duplicate key 'Ana Lee' value \"4711\" "
        "for ana@example.com, "
        f"card {CARD} at jdbc:postgresql://u:{CANARY}@h/db\n\tat org.x.Y.z(Y.java:10)\n"
        "Caused by: x\n  File \"/srv/etl.py\", line 3, in load\n    raise ValueError('Ana Lee')\n"
    )
    for key in ("stackTrace", "stack_trace"):
        clean = texts({"extractionError": {"errors": [{key: trace}]}})["extractionError"]["errors"][
            0
        ][key]
        for secret in ("Ana Lee", "4711", "ana@", CARD, CANARY):
            assert secret not in clean
        for text in (
            "PSQLException: ERROR: duplicate key",
            "Y.z(Y.java:10)",
            'File "/srv/etl.py", line 3, in load',
        ):
            assert text in clean


def names_of(part: Any) -> list[tuple[str, str]]:
    parts = part if isinstance(part, list) else [part]
    return [(item["namespace"], item["name"]) for item in parts]


def test_redaction_keeps_every_name_of_real_events() -> None:
    for line in (CAPTURES / "spark_flights.jsonl").read_bytes().splitlines():
        before, after = json.loads(line), json.loads(redact(line))
        for part in ("job", "inputs", "outputs"):
            assert names_of(before[part]) == names_of(after[part])


@given(histories)
def test_generated_histories_are_unchanged(bodies: list[bytes]) -> None:
    assert [redact(body) for body in bodies] == bodies


@given(st.binary())
def test_any_bytes_are_redacted_without_an_error(body: bytes) -> None:
    redact(body)


@given(
    st.lists(
        st.sampled_from(
            [b'"', b"\\", b"{", b"}", b":", b"token", b"a@b.co", b"name", b"value", b"1"]
        )
    )
)
def test_any_combination_of_fragments_is_redacted_without_an_error(pieces: list[bytes]) -> None:
    redact(b"".join(pieces))


PIECES = [
    "token",
    "a",
    "://",
    '"name":"token',
    "signature-",
    "bearer ",
    "-----BEGIN ",
    '"value":""',
    "a@",
    "a@b.",
    "@",
    "a@b.co ",
    "4111 ",
    "1",
    "41 ",
    "4111111111111111 ",
    "://a:b@",
    "://a:",
    "password=",
    "'",
    '"password":',
    "eyJ",
    "--token ",
    "&sig=",
    "jdbc:oracle:thin:a/",
    "authorization:",
    r"\u0040",
    r"\/",
    r"\"",
    "\\\\",
    "{",
    "}",
    "identified ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_text_is_redacted_in_less_than_quadratic_time(piece: str) -> None:
    seconds = []
    for size in (100_000, 400_000):
        body = (
            f'{{"stackTrace":"{piece * (size // len(piece))}", "x": "token @ '
            f'4111111111111111 x-amz-="}}'
        ).encode()
        began = time.process_time()
        redact(body)
        seconds.append(time.process_time() - began)
    assert seconds[1] < max(10 * seconds[0], 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ['{"name":"a","value":"token=b"},', '"a@b.co",', '{"x_key":"y z"},']
)
def test_many_possible_secrets_take_time_in_proportion_to_their_number(piece: str) -> None:
    seconds = []
    for size in (50_000, 400_000):
        body = f"[{piece * (size // len(piece))}1]".encode()
        began = time.process_time()
        redact(body)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 16 * seconds[0]
