"""Random Cypher, with writes and reads of files in disguise, against the gate and a real server.

What the gate passes is run on the server. It must end at its deadline, and the graph, the number of
users and the server's settings must be as before. The number of statements is FUZZ_EXAMPLES / 2.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from time import monotonic

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_text
from headwater.errors import QueryError, UnavailableError
from tests.canonical import canonical, empty
from tests.fuzz.test_fuzz import EXAMPLES, SEED
from tests.run_builders import run, write_events

pytestmark = pytest.mark.neo4j

SECONDS = 1.0
# The API answers at its own deadline; a busy machine may detect it late.
ENDS_WITHIN_SECONDS = 60.0
HARMLESS = (
    "MATCH (n:Job) RETURN n.name AS x", "RETURN 1 AS x", "UNWIND range(1, 5) AS i RETURN i AS x",
    "MATCH (d:Dataset)-[:FEEDS]->(j) RETURN j.name AS x", "CALL db.labels() YIELD label RETURN label AS x",
    "MATCH p = (a)-[*..3]->(b) RETURN length(p) AS x",
)  # fmt: skip
HARMFUL = (
    "CREATE (z:Planted)", "MATCH (z) SET z.planted = 1", "MATCH (z:Job) DETACH DELETE z",
    "MERGE (z:Planted {a: 1})", "LOAD CSV FROM 'file:///etc/passwd' AS z WITH z",
    "CALL dbms.listConfig() YIELD name", "CALL db.createLabel('Planted')",
    "FOREACH (z IN [1] | CREATE (:Planted))", "MATCH (z) REMOVE z.name", "SHOW SETTINGS YIELD name",
    "UNWIND range(1, 100000000) AS z", "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (z)",
)  # fmt: skip
FORMS = (
    "{bad} RETURN 1 AS x", "{bad} WITH 1 AS one {good}", "{good} UNION {bad} RETURN 1 AS x",
    "CALL () {{ {bad} RETURN 1 AS y }} {good}", "RETURN EXISTS {{ {bad} RETURN 1 AS y }} AS x",
    "RETURN COUNT {{ {bad} RETURN 1 AS y }} AS x", "RETURN COLLECT {{ {bad} RETURN 1 AS y }} AS x",
    "RETURN [i IN [1] | COLLECT {{ {bad} RETURN 1 AS y }}] AS x", "{good}; {bad}",
    "MATCH (q) WHERE any(i IN [1] WHERE EXISTS {{ {bad} RETURN 1 AS y }}) RETURN 1 AS x",
    "RETURN CASE WHEN true THEN COUNT {{ {bad} RETURN 1 AS y }} END AS x",
    "RETURN reduce(s = 0, i IN [1] | s + COUNT {{ {bad} RETURN 1 AS y }}) AS x",
    "UNWIND [1] AS i CALL (i) {{ {bad} RETURN 1 AS y }} IN TRANSACTIONS RETURN 1 AS x",
    "{good} // {bad}", "/* {good} */ {bad} RETURN 1 AS x", "RETURN '{good} {bad}' AS x", "{good}",
)  # fmt: skip
GAPS = (" ", "\n", "\t", "/**/", " /* ' */ ", " // `\n", "\\u0020", "\u00a0", "\r")


def statement(chance: random.Random) -> str:
    """Return a statement in which a harmful one may be hidden."""
    text = chance.choice(FORMS).format(bad=chance.choice(HARMFUL), good=chance.choice(HARMLESS))
    disguise = chance.randrange(5)
    if disguise == 0:
        return "".join(chance.choice((one.lower(), one.upper())) for one in text)
    if disguise == 1:
        return "".join(chance.choice(GAPS) if one == " " else one for one in text)
    if disguise == 2:
        at = chance.randrange(len(text))
        return f"{text[:at]}\\u{ord(text[at]):04x}{text[at + 1 :]}"
    if disguise == 3:
        words = text.split(" ")
        words.insert(chance.randrange(len(words)), chance.choice(("'", '"', "`", "/*", "*/", "//")))
        return " ".join(words)
    return text


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    empty(database)
    write_events(database, run("r1", "load", ["raw"], ["a"]), run("r2", "mart", ["a"], ["b"]))
    yield database
    empty(database)


def test_what_the_gate_passes_only_reads_and_ends(graph: Database) -> None:
    chance, before = random.Random(SEED), canonical(graph)
    counts = {"answered": 0, "refused": 0, "ended": 0}
    for _ in range(max(EXAMPLES // 2, 10)):
        text, began = statement(chance), monotonic()
        outcome = "answered"
        try:
            run_text(graph, text, {}, seconds=SECONDS)
        except QueryError:
            outcome = "refused"
        except UnavailableError:
            outcome = "ended"
        counts[outcome] += 1
        assert monotonic() - began < ENDS_WITHIN_SECONDS, (SEED, text)
    assert canonical(graph) == before, SEED
    assert counts["answered"] > 0, counts
    assert counts["refused"] > 0, counts
    print(f"seed {SEED}: {counts}")
