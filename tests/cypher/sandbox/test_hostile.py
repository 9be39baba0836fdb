"""Hostile statements on the real server: each is refused or ends within its limits.

The graph stays unchanged and the server keeps answering. Harmless statements beside them must be
permitted.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.policy import PROCEDURES
from headwater.cypher.sandbox.run import require_read_only, run_text
from headwater.cypher.sandbox.statement_check import Statement
from headwater.errors import QueryError, UnavailableError
from scripts.catalogue import taught
from tests.canonical import canonical, empty
from tests.run_builders import answer, run, write_events

pytestmark = pytest.mark.neo4j

SECONDS = 0.5
# The seconds until a statement is refused or ended: planning, the timeout and its detection, on a
# busy machine.
ENDS_WITHIN_SECONDS = 8.0


def checksum(database: Database) -> str:
    nodes, edges = canonical(database)
    return hashlib.sha256("\n".join([*nodes, *edges]).encode()).hexdigest()


@pytest.fixture(scope="module")
def small_graph(database: Database) -> Iterator[Database]:
    """Write a small graph, and check after the module that it is unchanged."""
    empty(database)
    write_events(
        database,
        run("c1", "clean", ["raw"], ["clean"], minute=0, derived={"clean": ["raw"]}, rows=9),
        run("m1", "mart", ["clean"], ["mart"], minute=2, derived={"mart": ["clean"]}),
        answer("good", "mart", minute=4),
    )
    before = checksum(database)
    yield database
    assert checksum(database) == before
    assert database.ask("RETURN 1 AS x", {}) == [{"x": 1}]


WRITES = [
    "CREATE (n:Dataset {urn: 'x'})",
    "CREATE (n:Dataset {urn: 'x'}) RETURN n",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) NODETACH DELETE n",
    "MATCH ()-[r]->() DELETE r",
    "MATCH (n) SET n.status = 'COMPLETE'",
    "MATCH (n) SET n += {a: 1} RETURN n",
    "MATCH (n) SET n:Other",
    "MATCH (n) REMOVE n.urn",
    "MATCH (n) REMOVE n:Dataset",
    "MERGE (n:X) RETURN n",
    "MATCH (a:Job), (b:Dataset) MERGE (a)-[:FEEDS]->(b)",
    "MERGE (n:X) ON CREATE SET n.a = 1 ON MATCH SET n.a = 2",
    "INSERT (n:X)",
    "FOREACH (x IN [1] | CREATE (:X))",
    "MATCH (n) FOREACH (x IN [n] | SET x.a = 1)",
    "MATCH (n) CALL (n) { SET n.x = 1 } RETURN n",
    "MATCH (n) CALL { WITH n DELETE n } RETURN 1 AS x",
    "MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS",
    "UNWIND range(1, 9) AS x CALL (x) { CREATE (:X {a: x}) } IN TRANSACTIONS OF 2 ROWS RETURN x",
    "UNWIND [1] AS x CALL (x) { RETURN x AS y } IN TRANSACTIONS RETURN y",
    "UNWIND [1] AS x CALL (x) { RETURN x AS y } IN 4 CONCURRENT TRANSACTIONS RETURN y",
    "MATCH (n) RETURN n UNION MATCH (n) CREATE (m:X) RETURN m AS n",
    "MATCH (n) RETURN n UNION ALL CALL () { CREATE (m:X) RETURN m } RETURN m AS n",
    "// only a comment\nCREATE (n) // RETURN",
    "/* MATCH (n) RETURN n */ CREATE (n)",
    "MATCH (n) /* RETURN n */ DETACH DELETE n",
    "\\u0043REATE (n)",
    "MATCH (n) \\u0044ETACH DELETE n",
    "MATCH (n) DETACH\\u0020DELETE n",
    "MATCH (n) RETURN EXISTS { CREATE (m) RETURN m } AS x",
    "RETURN COUNT { CREATE (m) RETURN m } AS x",
    "RETURN COLLECT { MATCH (m) SET m.a = 1 RETURN m } AS x",
    "RETURN [x IN [1] | COLLECT { MATCH (m) DELETE m RETURN 1 }] AS x",
    "EXPLAIN CREATE (n)",
    "PROFILE CREATE (n)",
    "PROFILE MATCH (n) RETURN n",
    "CYPHER runtime=slotted CREATE (n)",
    "CYPHER 5 CREATE (n)",
    "cReAtE (n)",
]
FILES = [
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "LOAD CSV WITH HEADERS FROM 'file:///etc/passwd' AS line RETURN line",
    "LOAD CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line",
    "LOAD CSV FROM 'ftp://127.0.0.1:1/x' AS line RETURN line",
    "LOAD CSV FROM $address AS line RETURN line",
    "load /* so */ csv from 'file:///etc/passwd' AS line RETURN line",
    "LOAD // so\nCSV FROM 'file:///etc/passwd' AS line RETURN line",
    "\\u004cOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "MATCH (n) WITH n LIMIT 1 LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "CALL () { LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line } RETURN line",
    "RETURN EXISTS { LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line } AS x",
    "RETURN COUNT { LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line } AS x",
    "RETURN COLLECT { LOAD CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line[0] } AS x",
    # A plan does not show loops within expressions: it shows these statements as plain reads.
    "RETURN [i IN [1] | COLLECT { LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l[0] }] AS x",
    (
        "RETURN reduce(x = [], i IN [1] | COLLECT { LOAD CSV FROM 'http://127.0.0.1:1/' AS l "
        "RETURN l[0] }) AS x"
    ),
    "RETURN any(i IN [1] WHERE EXISTS { LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l }) AS x",
    (
        "RETURN CASE WHEN true THEN COUNT { LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l } "
        "END AS x"
    ),
    (
        "MATCH (n) RETURN n ORDER BY [i IN [1] | COUNT { LOAD CSV FROM 'file:///etc/passwd' AS "
        "l RETURN l }]"
    ),
    (
        "MATCH (n) WHERE '\"' = '\\'' OR [i IN [1] | COUNT { LOAD CSV FROM 'file:///x' AS l "
        "RETURN l }] = [1] RETURN n"
    ),
    "RETURN `a``b`, [i IN [1] | COUNT { LOAD CSV FROM 'file:///x' AS l RETURN l }] AS x",
    "RETURN '//' AS a, [i IN [1] | COUNT { LOAD CSV FROM 'file:///x' AS l RETURN l }] AS x",
    "RETURN 1 AS a // '\r, [i IN [1] | COUNT { LOAD CSV FROM 'file:///x' AS l RETURN l }] AS x //'",
]
SERVER = [
    "SHOW USERS",
    "SHOW CURRENT USER",
    "SHOW DATABASES",
    "SHOW TRANSACTIONS",
    "SHOW SETTINGS YIELD name RETURN name",
    "SHOW PROCEDURES",
    "SHOW FUNCTIONS",
    "SHOW INDEXES",
    "SHOW CONSTRAINTS",
    "SHOW PRIVILEGES",
    "SHOW SERVERS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    (
        "SHOW TRANSACTIONS YIELD transactionId AS id TERMINATE TRANSACTIONS id YIELD message "
        "RETURN message"
    ),
    "CALL dbms.listConfig()",
    "CALL dbms.listConfig() YIELD name, value RETURN name, value",
    "CALL dbms.components()",
    "CALL dbms.showCurrentUser()",
    "CALL dbms.killQuery('1')",
    "CALL dbms.setConfigValue('a', 'b')",
    "CALL dbms.upgrade()",
    "CALL () { CALL dbms.components() YIELD name RETURN name } RETURN name",
    "RETURN [i IN [1] | COLLECT { CALL dbms.listConfig() YIELD name RETURN name }] AS x",
    "RETURN [i IN [1] | COLLECT { CALL db.info() YIELD name RETURN name }] AS x",
    "RETURN CASE WHEN true THEN COLLECT { CALL db.info() YIELD name RETURN name } END AS x",
    "RETURN [i IN [1] | COUNT { CALL db.awaitIndexes(600) RETURN 1 }] AS x",
    "RETURN [i IN [1] | COLLECT { MATCH (as) WITH as CALL db.info() YIELD name RETURN name }] AS x",
    "CALL db.awaitIndexes(60)",
    "CALL db.clearQueryCaches()",
    "CALL db.createLabel('X')",
    "CALL `db`.`createLabel`('X')",
    "CALL `db.labels`()",
    "CALL db.labels /* */ .x()",
    "CALL /* db.labels() */ db.info()",
    "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()",
    "CALL db.stats.retrieve('GRAPH COUNTS')",
    "CALL tx.setMetaData({a: 1})",
    "CALL apoc.load.json('http://127.0.0.1:1/')",
    "CALL apoc.cypher.runWrite('CREATE (n)', {})",
    "RETURN apoc.cypher.runFirstColumnSingle('CREATE (n) RETURN n', {}) AS x",
    "RETURN apoc . util . sha1 (['x']) AS x",
    "RETURN `apoc`.text.join([], '') AS x",
    "RETURN graph.names() AS x",
    "USE system SHOW USERS",
    "USE system RETURN 1 AS x",
    "CALL () { USE system RETURN 1 AS x } RETURN x",
    "USE graph.byName('system') RETURN 1 AS x",
    ":USE system",
    "MATCH (n) RETURN n; MATCH (m) DETACH DELETE m",
    "RETURN 1 AS x; RETURN 2 AS x",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "CREATE INDEX x FOR (n:X) ON (n.y)",
    "CREATE FULLTEXT INDEX x FOR (n:X) ON EACH [n.y]",
    "CREATE CONSTRAINT x FOR (n:X) REQUIRE n.y IS UNIQUE",
    "DROP CONSTRAINT dataset_urn",
    "DROP INDEX names IF EXISTS",
    "CREATE USER x SET PASSWORD 'longenough'",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'longenough'",
    "ALTER USER neo4j SET STATUS SUSPENDED",
    "DROP USER neo4j",
    "RENAME USER neo4j TO x",
    "GRANT ROLE admin TO neo4j",
    "CREATE DATABASE x",
    "ALTER DATABASE neo4j SET ACCESS READ ONLY",
    "STOP DATABASE neo4j",
    "DROP DATABASE neo4j",
    "ENABLE SERVER 'x'",
]
ODD = [
    "",
    "   \n\t",
    "// nothing",
    "not cypher at all",
    "MATCH (n)",
    "RETURN",
    "MATCH (n:Dataset) WITH n",
    "RETURN 'never ended",
    "RETURN 1 /* never ended",
    "RETURN `never ended",
    "RETURN (1",
    "RETURN 1)",
    "RETURN (1]",
    "RETURN 1 AS x\x00",
    "RETURN '\x00' AS x",
    "RETURN 1 AS x\u2028CREATE (n)",
    "RETURN $missing AS x",
    "RETURN $n.a.b AS x",
    "MATCH (n) RETURN n LIMIT $n",
    "MATCH (n) WHERE n.urn IN $n RETURN n",
    "MATCH (n) RETURN n LIMIT -1",
    "RETURN 1 / 0 AS x",
    "RETURN date('never') AS x",
    "RETURN toInteger('1' + '0' + 'x') + {} AS x",
    "RETURN " + "1 + " * 5_000 + "1 AS x",
    "RETURN '" + "x" * 1_000_000 + "' AS x",
    "MATCH " + ", ".join(f"(n{i})" for i in range(5_000)) + " RETURN 1 AS x",
    "CALL () { " * 100 + "RETURN 1 AS x" + " } RETURN x" * 100,
    "RETURN " + "(" * 10_000 + "1" + ")" * 10_000 + " AS x",
    "RETURN " + "[" * 10_000 + "]" * 10_000 + " AS x",
    "RETURN " + "NOT " * 4_000 + "true AS x",
    "RETURN " + "-" * 15_000 + "1 AS x",
    "RETURN " + "EXISTS { MATCH (n) WHERE " * 100 + "true" + " }" * 100 + " AS x",
]
BOMBS = [
    "UNWIND range(1, 30000) AS x WITH collect(x) AS l RETURN [y IN l | l] AS ll",
    (
        "RETURN [x IN [1] | COUNT { UNWIND range(1, 1000000000) AS y WITH y WHERE y < 0 RETURN "
        "y }] AS x"
    ),
    "RETURN size(range(1, 1000000000)) AS x",
    "RETURN range(1, 1000000000) AS x",
    "UNWIND range(1, 1000000000) AS x RETURN sum(x) AS x",
    "UNWIND range(1, 1000000000) AS x WITH collect(x) AS l RETURN size(l) AS n",
    "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN count(*) AS n",
    "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i) WHERE a.urn <> b.urn RETURN count(*) AS n",
    (
        "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i) RETURN a.urn AS urn, count(*) AS n "
        "ORDER BY urn"
    ),
    "MATCH p = (a)-[*]-(b)-[*]-(c) RETURN count(p) AS n",
    "MATCH p = allShortestPaths((a)-[*]-(b)) MATCH (c), (d), (e) RETURN count(*) AS n",
    "MATCH (a)(()--()){1,60}(b) RETURN count(*) AS n",
]
# Neo4j applies no limit within an expression, and a text too large stops the server: these must
# never begin.
ENDLESS = [
    "RETURN size(reduce(s = 'x', i IN range(1, 40) | s + s)) AS n",
    "RETURN reduce(l = [1], i IN range(1, 40) | l + l) AS n",
    "RETURN reduce(l = [], i IN range(1, 100) | [l, l]) AS n",
    "RETURN reduce(m = {}, i IN range(1, 100) | {a: m, b: m}) AS n",
    "WITH 'x' AS s " + "WITH s + s AS s " * 40 + "RETURN size(s) AS n",
    "WITH 'x' AS s " + "WITH s AS a, s AS b WITH a + b AS s " * 40 + "RETURN size(s) AS n",
    "WITH 'x' AS s " + "WITH s || s AS s " * 40 + "RETURN size(s) AS n",
    "WITH [1] AS s " + "WITH [s, s] AS s " * 40 + "RETURN s",
    "WITH {} AS s " + "WITH {a: s, b: s} AS s " * 40 + "RETURN s",
    "WITH 'x' AS s0 "
    + "".join(f"UNWIND [s{i} + s{i}] AS s{i + 1} " for i in range(40))
    + "RETURN size(s40) AS n",
    "WITH 'x' AS s0 "
    + "".join(f"CALL (s{i}) {{ RETURN s{i} + s{i} AS s{i + 1} }} " for i in range(40))
    + "RETURN s40",
    "RETURN size(" + "replace(" * 9 + "'xxxx'" + ", 'x', 'xxxxxxxxxx')" * 9 + ") AS n",
    "WITH 'xxxx' AS s RETURN replace(s, 'x', s) AS s",
    "RETURN normalize(normalize(normalize('\ufdfa', NFKD), NFKD), NFKD) AS x",
    "RETURN [x IN range(1, 1000000000) | x] AS x",
    "RETURN [x IN `range`(1, 1000000000) | x] AS x",
    "RETURN `reduce`(s = 'x', i IN `range`(1, 40) | s + s) AS x",
    (
        "RETURN any(x IN range(1, 10000) WHERE any(y IN range(1, 10000) WHERE any(z IN range(1, "
        "10000) WHERE z < x))) AS x"
    ),
    (
        "UNWIND range(1, 400000) AS x WITH collect(x) AS l "
        "RETURN size([y IN l WHERE size(toStringList(l)) = 0]) AS n"
    ),
    "RETURN [x IN range(1, 9999) | [y IN range(1, 9999) | [z IN range(1, 9999) | x * y * z]]] AS x",
    "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ '(a+)+$' AS x",
    "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ ('(a+)' + '+$') AS x",
    "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ $pattern AS x",
    "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ '.*.*.*.*.*.*.*b' AS x",
]
# The planner has no limit either.
ENDLESS += [
    f"MATCH (n) WHERE {' AND '.join(f'NOT (NOT {a} AND NOT {b})' for a, b in labels)} RETURN n"
    for labels in (
        [(f"(n):A{at}", f"(n):B{at}") for at in range(24)],
        [(f"((n)):A{at}", f"(n) IS B{at}") for at in range(24)],
    )
]
ENDLESS += [f"MATCH {dash.join(['(:Job)'] * 40)} RETURN 1 AS x" for dash in ("——", "-‐", "−－")]
HOSTILE = [*WRITES, *FILES, *SERVER, *ODD, *BOMBS, *ENDLESS]
PARAMETERS = {"n": "text", "address": "file:///etc/passwd", "pattern": "(a+)+$"}


def test_there_are_enough() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) > 150


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:60].replace("\x00", "0"))
def test_it_is_refused_or_ends(small_graph: Database, text: str) -> None:
    began = time.monotonic()
    refusal = None
    try:
        run_text(small_graph, text, PARAMETERS, seconds=SECONDS)
    except (QueryError, UnavailableError) as error:
        refusal = error
    assert time.monotonic() - began < ENDS_WITHIN_SECONDS
    # Statements that are only expensive may end in time, and a busy server may not answer.
    assert text in BOMBS or isinstance(refusal, QueryError)
    assert refusal is None or refusal.message
    assert small_graph.ask("MATCH (n:Job) RETURN count(n) AS n", {}) == [{"n": 2}]


@pytest.mark.parametrize("text", ENDLESS, ids=lambda text: text[:60])
def test_unstoppable_statements_are_refused_by_their_words(text: str) -> None:
    with pytest.raises(QueryError, match="refused"):
        Statement(text, PARAMETERS).require_bounded(PROCEDURES)


INNOCENT = [
    (
        "MATCH (d:Dataset) RETURN d.namespace AS namespace, d.name AS name ORDER BY name SKIP 0 "
        "LIMIT 10"
    ),
    "MATCH (d:Dataset {name: $name}) RETURN properties(d) AS d",
    "match (d:Dataset) where d.name starts with 'r' return d",
    (
        "MATCH (d:Dataset)-[:FEEDS {current: true}]->(j:Job)-[:PRODUCED]->(o) RETURN d.name + ' "
        "-> ' + o.name AS flow"
    ),
    (
        "MATCH p = (d:Dataset {name: 'raw'})-[:FEEDS|PRODUCED*1..4]->(o) RETURN [n IN nodes(p) "
        "| n.name] AS way"
    ),
    (
        "MATCH p = shortestPath((a:Dataset {name: 'raw'})-[:FEEDS|PRODUCED*..10]->(b:Dataset "
        "{name: 'mart'})) RETURN p"
    ),
    (
        "MATCH p = allShortestPaths((a:Dataset {name: 'raw'})-[*..10]-(b:Dataset {name: "
        "'mart'})) RETURN length(p) AS n"
    ),
    (
        "MATCH p = ANY SHORTEST (:Dataset {name: "
        "'raw'})(()-[:FEEDS]->()-[:PRODUCED]->()){1,5}(b:Dataset) RETURN b.urn"
    ),
    "MATCH (a:Dataset)((i)-[f:FEEDS]->(j)-[p:PRODUCED]->(o)){1,3}(b) RETURN DISTINCT b.name AS b",
    "MATCH (d:Dataset) WHERE EXISTS { (d)<-[:PRODUCED]-(:Job) } RETURN count(*) AS n",
    (
        "MATCH (d:Dataset) WHERE NOT EXISTS { MATCH (d)-[:FEEDS]->(j) WHERE j.name <> 'x' } "
        "RETURN d.name AS name"
    ),
    "MATCH (j:Job) RETURN j.name AS name, COUNT { (j)<-[:RUN_OF]-() } AS runs ORDER BY runs DESC",
    (
        "MATCH (j:Job) RETURN j.name AS name, COLLECT { MATCH (j)-[:PRODUCED]->(o) RETURN "
        "o.name ORDER BY o.name } AS made"
    ),
    (
        "MATCH (j:Job) CALL (j) { MATCH (j)<-[:RUN_OF]-(r) RETURN max(r.startedAt) AS last } "
        "RETURN j.name AS name, last"
    ),
    "MATCH (j:Job) OPTIONAL MATCH (j)-[:PART_OF]->(up:Job) RETURN j.name AS name, up.name AS up",
    "MATCH (n) RETURN head(labels(n)) AS label, count(*) AS n",
    (
        "MATCH ()-[e]->() RETURN type(e) AS type, count(*) AS n UNION ALL RETURN 'none' AS "
        "type, 0 AS n"
    ),
    (
        "MATCH (r:PipelineRun) WHERE r.startedAt >= datetime('2026-01-01') RETURN "
        "collect(r.runId) AS runs"
    ),
    "MATCH (r:PipelineRun) RETURN duration.between(r.startedAt, r.finishedAt).seconds AS seconds",
    "MATCH (r:PipelineRun) RETURN date.truncate('month', r.startedAt) AS month, count(*) AS runs",
    (
        "MATCH (a:Artifact) WITH a.dataset AS d, max(a.createdAt) AS newest WHERE newest IS NOT "
        "NULL RETURN d, newest"
    ),
    "UNWIND range(1, 100) AS x RETURN sum(x) AS x",
    "UNWIND $names AS name MATCH (d:Dataset {name: name}) RETURN d.name AS name",
    "RETURN [x IN range(1, 5) WHERE x > 2 | x * x] AS x",
    "MATCH (d:Dataset) WHERE any(c IN labels(d) WHERE c CONTAINS 'set') RETURN d.name AS name",
    "MATCH (d:Dataset) WHERE d.name =~ 'r.*' OR d.name =~ $pattern RETURN d.name AS name",
    (
        "MATCH (d:Dataset) RETURN CASE WHEN d.name = 'raw' THEN 'a source' ELSE 'made' END AS "
        "kind, count(*) AS n"
    ),
    "MATCH (d:Dataset) RETURN d {.namespace, .name, made: [(d)<-[:PRODUCED]-(j) | j.name]} AS d",
    (
        "MATCH (c:Column)-[f:FEEDS]->(o:Column) WHERE 'DIRECT' IN f.transformations RETURN "
        "c.dataset + '.' + c.name AS c, o.name AS o"
    ),
    "CALL db.labels() YIELD label RETURN label ORDER BY label",
    "CALL db.labels",
    (
        "CALL db.index.fulltext.queryNodes('words', 'raw') YIELD node, score RETURN node.name "
        "AS name, score"
    ),
    "CALL db.schema.nodeTypeProperties() YIELD nodeType RETURN DISTINCT nodeType",
    (
        "// what is called mart\nMATCH (d:Dataset) /* any */ WHERE d.name = 'mart' RETURN d.urn "
        "AS urn // that is it"
    ),
    (
        "MATCH (d:Dataset) WHERE d.name <> 'CREATE (n) LOAD CSV; CALL dbms.x()' RETURN d.`name` "
        "AS `the name`"
    ),
    "CYPHER statefulShortestPlanningMode=all_if_possible MATCH (d:Dataset) RETURN count(d) AS n",
    (
        "MATCH (d:Dataset) RETURN replace(d.name, '/', '.') AS name, split(d.name, '/')[-1] AS "
        "last, size(d.columns) AS n"
    ),
]


@pytest.mark.parametrize("text", INNOCENT, ids=lambda text: text[:60])
def test_reads_are_permitted(small_graph: Database, text: str) -> None:
    found = run_text(
        small_graph,
        text,
        {"name": "raw", "names": ["raw", "mart"], "pattern": "m[a-z]+"},
        seconds=10.0,
    )
    assert found.rows
    assert not found.truncated


def test_statements_of_the_lesson_are_permitted(small_graph: Database) -> None:
    assert len(taught()) > 8
    for text in taught():
        require_read_only(small_graph, text, {})


def test_an_answer_is_cut_by_its_size(small_graph: Database) -> None:
    lines = "UNWIND range(1, 900) AS x RETURN x, $text AS text"
    found = run_text(small_graph, lines, {"text": "x" * 50_000})
    assert found.truncated
    assert 100 < len(found.rows) < 200
    with pytest.raises(QueryError, match="larger than"):
        run_text(
            small_graph,
            "UNWIND range(1, 200) AS x RETURN collect($text) AS text",
            {"text": "x" * 50_000},
        )
    with pytest.raises(QueryError, match="larger than"):
        run_text(
            small_graph,
            "UNWIND range(1, 40000) AS x WITH collect(x) AS l RETURN [y IN range(1, 100) | l] AS n",
            {},
        )
    assert run_text(small_graph, "RETURN 1 AS x", {}).rows == [{"x": 1}]
