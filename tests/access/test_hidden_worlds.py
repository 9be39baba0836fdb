"""Two graphs that differ only in hidden nodes answer a restricted key alike.

Every route and every root field is asked about a visible node, and about a hidden one that exists
in one of the two graphs only. The hidden parts differ in size, names, failures and producers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.access.probes import field_probes, route_probes
from tests.access.worlds import (
    HIDDEN,
    VISIBLE,
    create_keys,
    hidden_events,
    sent,
    served,
    visible_events,
    without_clock,
)
from tests.canonical import empty
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

Answers = dict[str, tuple[int, str]]
# The words that only the hidden parts have.
SECRETS = ("vault", "crypt")


def answers(
    database: Database, server: Neo4jServer, home: Path, number: int, prefix: str
) -> Answers:
    """Return what a key of `db` is answered over a graph with such a hidden part."""
    keys, found = create_keys(home), Answers()
    events = [*visible_events(), *hidden_events(number, prefix)]
    with served(database, server, home, events) as (app, client):
        for event in events:
            headers = {"authorization": f"Bearer {keys['ingest']}"}
            client.post("/api/v1/lineage", json=event, headers=headers).raise_for_status()
        for subject in (VISIBLE, HIDDEN):
            for probe in [*route_probes(app, subject), *field_probes(subject, ("Query",))]:
                if probe.method == "GET" or probe.path == "/graphql":
                    name = f"{probe.endpoint} about {subject.name}"
                    status, text = sent(client, probe, keys["db"])
                    found[name] = status, without_clock(text)
    return found


def test_a_restricted_key_cannot_distinguish_them(
    database: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    one = answers(database, neo4j_server, tmp_path / "one", 1, "vault")
    other = answers(database, neo4j_server, tmp_path / "other", 4, "crypt")
    empty(database)
    assert one.keys() == other.keys()
    different = {name: (one[name], other[name]) for name in one if one[name] != other[name]}
    assert different == {}
    # What a caller asked for is in the answer, and nothing else of the hidden parts.
    named = [
        name
        for name, (status, text) in other.items()
        if "crypt" in text or ("about a" in name and "vault" in text)
    ]
    assert named == []
    answered = [status for status, _ in one.values()]
    assert answered.count(200) > len(answered) / 2
