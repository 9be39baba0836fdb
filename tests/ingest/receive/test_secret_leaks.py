"""Unique secrets and personal data, planted at every place of an event, leave no trace.

The events go over real HTTP into the real graph. Then no planted text may be in the spool, the
graph, the dead letters, the metrics or the logs. The useful content of the events must still be
there.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.schema.delta import GraphDelta
from headwater.schema.events import Event
from headwater.schema.naming import Naming
from tests.canonical import canonical, empty
from tests.ingest.conftest import Api

pytestmark = pytest.mark.neo4j
CAPTURE = Path(__file__).parents[2] / "captures" / "spark_flights.jsonl"
OWNER = "flights-team@example.com"
UNRESTRICTED = (
    "MATCH (n) OPTIONAL MATCH (n)-[e]->() RETURN properties(n) AS n, collect(properties(e)) AS e"
)


class Canaries:
    """A generator of unique secrets that remembers them."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def secret(self) -> str:
        return self._remembered(f"cAnaRy{len(self.made)}xQ")

    def mail(self) -> str:
        return self._remembered(f"canary{len(self.made)}xq") + "@people.example.com"

    def card(self) -> str:
        """Return a unique number that is valid as a card number."""
        stem = f"4{len(self.made):03}90817263544"
        total = sum(
            sum(divmod(int(digit) * (2 - index % 2), 10)) for index, digit in enumerate(stem)
        )
        return self._remembered(f"{stem}{-total % 10}")

    def _remembered(self, text: str) -> str:
        self.made.append(text)
        return text


def in_texts(c: Canaries) -> str:
    """Return a text with every kind of secret that texts may contain."""
    card = c.card()
    grouped = " ".join(card[start : start + 4] for start in range(0, 16, 4))
    c.made.append(grouped)
    return (
        f"to {c.mail()}, '{c.mail()}' and {c.card()} or {grouped}; "
        f"jdbc:postgresql://u:{c.secret()}@h/db "
        f"https://acct.blob.example.net/f?se=2026&sig={c.secret()} password='{c.secret()}' "
        f"Bearer {c.secret()}-long "
        f"https://b.s3.example.com/k?X-Amz-Credential={c.secret()}&X-Amz-Signature={c.secret()} "
        f'token="{c.secret()}"'
    )


def facets(c: Canaries) -> dict[str, Any]:
    trace = (
        f"java.lang.X: {in_texts(c)} 'literal {c.secret()}' \"{c.secret()}\"\n\tat "
        f"org.apache.Kept(Kept.java:10)"
    )
    return {
        "errorMessage": {
            "message": f"boom {in_texts(c)}",
            "programmingLanguage": "SCALA",
            "stackTrace": trace,
        },
        "spark.exception": {"message": f"boom {in_texts(c)}", "stackTrace": trace},
        "extractionError": {
            "totalTasks": 1,
            "failedTasks": 1,
            "errors": [{"errorMessage": "x", "stackTrace": trace}],
        },
        "spark_properties": {
            "properties": {
                "spark.hadoop.fs.s3a.secret.key": c.secret(),
                "spark.redis.auth.password": c.secret(),
                "spark.driver.extraJavaOptions": f"-Ddb.password={c.secret()} -Downer={c.mail()}",
            }
        },
        "environmentVariables": {
            "environmentVariables": [
                {"name": "DB_PASSWORD", "value": c.secret()},
                {"value": c.secret(), "name": "API_TOKEN"},
                {"name": "GIT_AUTHOR_EMAIL", "value": c.mail()},
                {"name": "CONF", "value": json.dumps({"api_key": c.secret()})},
            ]
        },
        "spark.logicalPlan": {"plan": [{"class": "Filter", "condition": in_texts(c)}, in_texts(c)]},
        "unheard_of": {
            "deep": [{"deeper": [in_texts(c), {"secrets": [c.secret()]}]}],
            "pin_pwd": 1,
        },
    }


def planted(c: Canaries) -> dict[str, Any]:
    """Return a real event with a canary at every possible place."""
    events = map(json.loads, CAPTURE.read_bytes().splitlines())
    event: dict[str, Any] = copy.deepcopy(
        next(e for e in events if e["eventType"] == "COMPLETE" and e["inputs"] and e["outputs"])
    )
    event["run"]["facets"] |= facets(c)
    event["job"]["facets"] |= {
        "sql": {"query": f"SELECT kept FROM t WHERE {in_texts(c)}", "dialect": "spark"},
        "sourceCode": {"language": "PYTHON", "sourceCode": f"kept = 1\n{in_texts(c)}"},
        "documentation": {"description": in_texts(c)},
        "ownership": {"owners": [{"name": OWNER, "type": "MAINTAINER"}]},
    }
    for dataset in (*event["inputs"], *event["outputs"]):
        dataset["namespace"] = f"postgres://etl:{c.secret()}@db.example.com:5432"
        dataset["facets"]["dataSource"] = {
            "name": "db",
            "uri": f"jdbc:postgresql://db/x?password={c.secret()}",
        }
        dataset["facets"]["documentation"] = {"description": in_texts(c)}
        dataset["facets"]["symlinks"] = {
            "identifiers": [
                {
                    "namespace": f"s3://K:{c.secret()}@lake",
                    "name": f"{dataset['name']}?sig={c.secret()}",
                    "type": "TABLE",
                }
            ]
        }
        dataset["facets"]["schema"]["fields"][0]["description"] = in_texts(c)
    event["outputs"][0]["outputFacets"] = {
        "outputStatistics": {"rowCount": 4111111111111111},
        "x": {"y": in_texts(c)},
    }
    event["inputs"][0]["inputFacets"] = {"x": {"y": in_texts(c)}}
    return event


def answered(c: Canaries) -> dict[str, Any]:
    facet = {
        "content": in_texts(c),
        "generatedBy": "ana@example.com",
        "cites": [{"namespace": "db", "name": "t"}],
    }
    return {
        "eventTime": "2026-01-01T00:00:00Z",
        "dataset": {
            "namespace": "answers",
            "name": "canary",
            "facets": {"headwater_answer": facet},
        },
    }


def escaped(event: dict[str, Any]) -> bytes:
    return (
        json.dumps(event)
        .encode()
        .replace(b"/", rb"\/")
        .replace(b"@", rb"\u0040")
        .replace(b"=", rb"\u003d")
    )


@pytest.fixture
def broken_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace `fold` by one that fails on the events of one job and puts them into its error."""

    def breaking(events: Iterable[Event], naming: Naming) -> GraphDelta:
        batch = list(events)
        for event in batch:
            if event.job is not None and event.job.name == "breaks":
                assert event.run is not None
                raise ValueError(
                    f"cannot fold {event} "
                    f"{[bytes(raw) for raw in (event.run.facets or {}).values()]}"
                )
        return fold(batch, naming)

    monkeypatch.setattr("headwater.ingest.fold.undated_events.fold", breaking)


@pytest.mark.usefixtures("broken_fold")
def test_no_canary_leaks(api: Api, database: Database, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    empty(database)
    c = Canaries()
    event = planted(c)
    breaks = planted(c) | {"job": {"namespace": "etl", "name": "breaks"}}
    damaged = planted(c) | {"job": {"namespace": "etl", "name": "damaged"}}
    before = api.last()
    assert api.post(json.dumps(event).encode()).status == 201
    assert api.post(escaped(planted(c))).status == 201
    assert api.post(json.dumps(answered(c)).encode()).status == 201
    batch = [
        json.dumps(breaks).encode(),
        escaped(answered(c)),
        b'{"run": {"runId": 5}}',
        json.dumps(damaged).encode(),
    ]
    assert api.batch(b"[" + b",".join(batch) + b"]").body["summary"]["successful"] == 3
    assert api.last() == before + 6
    flip_a_bit(api.spool_path, api.last())

    with closing(Spool(api.spool_path)) as spool:
        worker = Worker(database, spool)
        while worker.step():
            pass
        dead = sorted(spool.dead_letters(), key=lambda letter: letter.seq)
        # The records are read through the spool, because a page boundary may split a text in the
        # file.
        spooled = b"".join(
            record.body for record in spool.read(0, events_max=100, bytes_max=2**30)
        ).decode("latin-1")
    assert [letter.seq for letter in dead] == [before + 4, before + 6]
    assert "cannot fold" in dead[0].reason
    rows = list(database.ask(UNRESTRICTED, {}))
    texts = {
        "the graph": str(rows),
        "the canonical graph": str(canonical(database)),
        "dead letters": str(dead),
        "the logs": caplog.text,
        **{
            path.name: path.read_bytes().decode("latin-1")
            for path in api.spool_path.parent.glob("spool*")
        },
    }
    assert {"spool.db", "spool.db-wal"} <= texts.keys()
    assert len(c.made) > 300
    leaks = []
    for name, text in texts.items():
        lower = text.lower()
        leaks += [(name, canary) for canary in c.made if canary.lower() in lower]
    assert leaks == []
    assert_other_content_is_there(database, event, spooled)


def assert_other_content_is_there(database: Database, event: dict[str, Any], spooled: str) -> None:
    assert OWNER in spooled
    for text in (
        "Kept(Kept.java:10)",
        "SELECT kept FROM",
        "kept = 1",
        "<email:",
        "<card:",
        "4111111111111111",
    ):
        assert text in spooled, text
    namespace, output = "postgres://db.example.com:5432", event["outputs"][0]
    rows = database.ask("MATCH (d:Dataset {namespace: $n}) RETURN d.name AS name", {"n": namespace})
    names = {row["name"] for row in rows}
    assert names >= {dataset["name"] for dataset in (*event["inputs"], *event["outputs"])}
    found = database.ask(
        (
            "MATCH (r:PipelineRun {runId: $run})-[:PRODUCED]->(a:Artifact) RETURN a.name AS "
            "name, a.rowCount AS n"
        ),
        {"run": event["run"]["runId"]},
    )
    assert [(row["name"], row["n"]) for row in found if row["name"] == output["name"]] == [
        (output["name"], 4111111111111111)
    ]
    schema = database.ask(
        "MATCH (d:Dataset {namespace: $n, name: $t}) RETURN d.columns AS columns",
        {"n": namespace, "t": output["name"]},
    )
    assert schema[0]["columns"] == [field["name"] for field in output["facets"]["schema"]["fields"]]


def flip_a_bit(path: Path, seq: int) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        body = bytearray(connection.execute("SELECT body FROM event WHERE seq = ?", (seq,)).get)
        body[0] ^= 1
        connection.execute("UPDATE event SET body = ? WHERE seq = ?", (bytes(body), seq))
