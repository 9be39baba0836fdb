"""The timed questions: how each is asked over HTTP, how its answer is counted, its target and its
floor.

A floor is the bare query with the bare driver: the time that Neo4j and its driver need for the rows
of the answer. To time another route, add a row to `questions`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from bench.events import LAKE, NAMESPACE, run_id, table_name
from bench.graph import ANSWER, Filled
from bench.processes import Client
from bench.wiring import DIAMOND, HUB, ROOT
from headwater.lineage.pagination import encode_time_cursor
from headwater.schema.urns import answer_urn, column_urn, dataset_urn, job_urn, parse_urn

_MAP = """query($urn: ID!, $depth: Int!) { lineage(urn: $urn, direction: DOWNSTREAM, depth: $depth) {
  nodes { urn kind namespace name distance } edges { source target type } truncated truncatedBy } }"""
_COLUMNS = """query($dataset: DatasetName!, $depth: Int!) {
  columnLineage(dataset: $dataset, column: "c0", direction: DOWNSTREAM, depth: $depth) {
    nodes { urn name } edges { source target derivations { jobUrn transformations } } truncated } }"""
_FAILED = """query($first: Int!, $until: DateTime) { failedRuns(first: $first, until: $until) { edges { node {
  runId pipelineName failedAt downstream { truncated datasets { urn } jobs { urn } answers { answerId } } } } } }"""
_SEARCH = "query($text: String!) { search(text: $text) { edges { node { urn } } } }"
_FRESHNESS = "query($urn: ID!) { freshness(urn: $urn) { newestAt effectiveAt ageSeconds } }"
_RUNS = """query($urn: ID!, $first: Int!, $after: String) { job(urn: $urn) {
  runs(first: $first, after: $after) { edges { cursor node { runId status startedAt finishedAt } } } } }"""
_VERSIONS = """query($urn: ID!, $first: Int!) { dataset(urn: $urn) {
  versions(first: $first) { edges { node { urn createdAt status } } } } }"""
_RUN = """query($runId: ID!) { run(runId: $runId) { runId status startedAt job { urn }
  inputs { urn } outputs { urn } artifacts { urn createdAt } } }"""
_USAGE = """query($urn: ID!, $days: Int!) { usage(urn: $urn, days: $days) { runs seconds truncated
  consumers(first: 50) { edges { node { job { urn } runs seconds } } } } }"""
_HISTORY = """query($urn: ID!, $depth: Int!) { lineage(urn: $urn, direction: UPSTREAM, depth: $depth) {
  nodes { urn kind name } edges { source target type } truncated } }"""
_TRACE = (
    "query($id: ID!) { trace(answerId: $id) { sources { urn } runs { runId } artifacts "
    "{ urn } truncated } }"
)
_IMPACT = """query($changes: [ChangeInput!]!) { impact(changes: $changes) {
  riskLevel affectedCount truncated affected { urn distance } } }"""

_BARE_RUNS = """MATCH (r:PipelineRun) USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
WHERE r.namespace = $namespace AND r.pipelineName = $name AND r.startedAt < $at
RETURN r.runId, r.status, r.startedAt, r.finishedAt
ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT $limit"""


@dataclass(frozen=True)
class Question:
    """A timed question. `target` is its promised p95 in milliseconds, if any; `count` counts its
    answer.
    """

    name: str
    ask: Callable[[Client], bytes]
    count: Callable[[Any], Mapping[str, Any]]
    floor: tuple[str, Mapping[str, Any]]
    target: float | None = None


def questions(filled: Filled, *, now: datetime | None = None) -> list[Question]:
    """Return all questions about the graph that is there."""
    table = {
        name: dataset_urn(LAKE, table_name(number)) for name, number in _tables(filled).items()
    }
    hot = job_urn(NAMESPACE, f"job_{filled.wiring.hot:06}")
    days = ((now or datetime.now(UTC)) - filled.until).days + 1
    return [
        # In GraphQL a traversal ends at 5,000 nodes, so promises about larger ones concern columns.
        *(
            _lineage(table["root"], depth, target)
            for depth, target in ((2, 10.0), (10, None), (20, None))
        ),
        *(
            _lineage_columns(table["root"], depth, target)
            for depth, target in ((2, 10.0), (10, 60.0), (20, 200.0))
        ),
        _columns(table["diamond"]),
        *_of_dense_nodes(filled, table, hot, days),
        *_of_history(),
        _failed(filled),
        _graphql(
            "search",
            _SEARCH,
            {"text": table_name(filled.wiring.deepest())},
            _connection,
            _words(filled),
        ),
        _graphql(
            "freshness",
            _FRESHNESS,
            {"urn": table["hot"]},
            _exists,
            _newest(table["hot"]),
            target=50.0,
        ),
        _impact(table["middle"]),
    ]


def _tables(filled: Filled) -> dict[str, int]:
    wiring = filled.wiring
    return {
        "hub": HUB,
        "root": ROOT,
        "diamond": DIAMOND,
        "hot": wiring.tables[wiring.hot][2],
        "deepest": wiring.deepest(),
        # Some hundred jobs lie downstream of it.
        "middle": wiring.tables[sum(wiring.levels) * 49 // 50][2],
    }


def _graphql(
    name: str,
    query: str,
    variables: Mapping[str, Any],
    count: Callable[[Any], Mapping[str, Any]],
    floor: tuple[str, Mapping[str, Any]],
    *,
    target: float | None = None,
) -> Question:
    def counted(body: Any) -> Mapping[str, Any]:
        (answer,) = body["data"].values()
        return count(answer)

    return Question(name, lambda client: client.graphql(query, variables), counted, floor, target)


def _rest(
    name: str,
    path: str,
    parameters: Mapping[str, Any],
    count: Callable[[Any], Mapping[str, Any]],
    floor: tuple[str, Mapping[str, Any]],
    *,
    target: float | None = None,
) -> Question:
    """Return a question to a route. An answer other than 200 raises RuntimeError."""

    def ask(client: Client) -> bytes:
        status, body = client.get(f"{path}?{urlencode(parameters)}")
        if status != 200:
            raise RuntimeError(f"{path} was answered {status}: {body[:500]!r}")
        return body

    return Question(name, ask, count, floor, target)


def _bare_map(depth: int) -> str:
    return f"""MATCH (:Dataset {{urn: $urn}})-[:FEEDS|PRODUCED*0..{2 * depth - 1}]->(n) WITH DISTINCT n
MATCH (n)-[e:FEEDS|PRODUCED]->(m:Dataset|Job) WHERE e.current RETURN n.urn, m.urn"""


def _lineage(urn: str, depth: int, target: float | None) -> Question:
    variables, floor = {"urn": urn, "depth": depth}, (_bare_map(depth), {"urn": urn})
    return _graphql(f"lineage at depth {depth}", _MAP, variables, _walk, floor, target=target)


def _lineage_columns(urn: str, depth: int, target: float) -> Question:
    parameters = {"urn": urn, "direction": "downstream", "depth": depth}
    floor = (_bare_map(depth), {"urn": urn})
    return _rest(
        f"lineage as columns at depth {depth}",
        "/api/v1/lineage-table",
        parameters,
        _table,
        floor,
        target=target,
    )


def _columns(urn: str) -> Question:
    name = urn.removeprefix(dataset_urn(LAKE, ""))
    bare = """MATCH (:Column {urn: $urn})-[:FEEDS*0..19]->(n:Column) WITH DISTINCT n
MATCH (n)-[e:FEEDS]->(m:Column) RETURN n.urn, m.urn, e.transformations"""
    floor = (bare, {"urn": column_urn(LAKE, name, "c0")})
    variables = {"dataset": {"namespace": LAKE, "name": name}, "depth": 20}
    return _graphql("column lineage at depth 20", _COLUMNS, variables, _walk, floor, target=100.0)


def _of_dense_nodes(
    filled: Filled, table: Mapping[str, str], hot: str, days: int
) -> list[Question]:
    """Return questions about the job with nine runs in ten, its output, and the dataset that all
    jobs read.
    """
    instant = filled.until - timedelta(hours=12)
    namespace, name = parse_urn(hot).parts or ("", "")
    runs = {"namespace": namespace, "name": name, "at": filled.until, "limit": 50}
    bare_consumers = """MATCH (r:PipelineRun) WHERE r.startedAt >= $since AND r.startedAt < $until
AND EXISTS { (r)<-[:FEEDS]-(:Source {dataset: $urn}) } RETURN r.namespace, r.pipelineName, count(*), max(r.startedAt)"""
    since = {"urn": table["hub"], "since": filled.until - timedelta(days=1), "until": filled.until}
    bare_run = "MATCH (r:PipelineRun {runId: $run})-[e]-(o) RETURN properties(r), type(e), o.urn"
    bare_versions = """MATCH (a:Artifact) USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
WHERE a.dataset = $urn AND a.complete = true AND a.createdAt < $at RETURN a.urn, a.createdAt, a.status
ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT $limit"""
    window = {"urn": hot, "first": 50, "after": encode_time_cursor(instant, "run:")}
    newest = {"urn": table["hot"], "at": filled.until, "limit": 50}
    one = run_id(filled.patterns[-2])
    return [
        _graphql(
            "newest 50 runs of a job",
            _RUNS,
            {"urn": hot, "first": 50},
            _runs,
            (_BARE_RUNS, runs),
            target=50.0,
        ),
        _graphql(
            "50 runs of a job by time",
            _RUNS,
            window,
            _runs,
            (_BARE_RUNS, {**runs, "at": instant}),
            target=50.0,
        ),
        _graphql("one run", _RUN, {"runId": one}, _exists, (bare_run, {"run": one}), target=50.0),
        _graphql(
            "newest 50 versions of a dataset",
            _VERSIONS,
            {"urn": table["hot"], "first": 50},
            lambda answer: _connection(answer["versions"]),
            (bare_versions, newest),
            target=50.0,
        ),
        _graphql(
            "who read a source, one day",
            _USAGE,
            {"urn": table["hub"], "days": days},
            lambda answer: {"runs": answer["runs"], **_connection(answer["consumers"])},
            (bare_consumers, since),
            target=50.0,
        ),
    ]


def _of_history() -> list[Question]:
    bare = """MATCH (:Answer {urn: $urn})<-[:FEEDS|PRODUCED|CITED_BY*0..41]-(n) WITH DISTINCT n
MATCH (n)<-[e:FEEDS|PRODUCED|CITED_BY]-(m) RETURN n.urn, m.urn"""
    urn = answer_urn(ANSWER)
    return [
        _graphql(
            "history of an answer at depth 20",
            _HISTORY,
            {"urn": urn, "depth": 20},
            _walk,
            (bare, {"urn": urn}),
        ),
        _graphql(
            "trace of an answer",
            _TRACE,
            {"id": ANSWER},
            lambda answer: {"runs": len(answer["runs"]), "truncated": answer["truncated"]},
            (bare, {"urn": urn}),
        ),
    ]


def _failed(filled: Filled) -> Question:
    bare = """MATCH (r:PipelineRun) WHERE r.status = 'FAIL' AND r.failedAt < $until
WITH r ORDER BY r.failedAt DESC LIMIT 10
MATCH (r)-[:PRODUCED]->(a)-[:VERSION_OF]->(d)-[:FEEDS|PRODUCED*0..60]->(n) RETURN DISTINCT r.runId, n.urn LIMIT 20000"""
    # Before those of the hot job, which has nothing downstream.
    until = filled.until - timedelta(seconds=40)
    variables = {"first": 10, "until": until.isoformat()}
    return _graphql(
        "failed runs and what lies downstream",
        _FAILED,
        variables,
        _touched,
        (bare, {"until": until}),
    )


def _words(filled: Filled) -> tuple[str, Mapping[str, Any]]:
    name = table_name(filled.wiring.deepest()).rpartition("/")[2]
    return (
        "CALL db.index.fulltext.queryNodes('words', $text, {limit: 20}) YIELD node RETURN node.urn",
        {"text": name},
    )


def _newest(urn: str) -> tuple[str, Mapping[str, Any]]:
    bare = """MATCH (a:Artifact) USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
WHERE a.dataset = $urn AND a.complete = true AND a.createdAt IS NOT NULL
WITH a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
MATCH (a)<-[:FEEDS|PRODUCED*0..200]-(n) RETURN DISTINCT n.urn"""
    return bare, {"urn": urn}


def _impact(urn: str) -> Question:
    bare = """MATCH (:Column {urn: $urn})-[:FEEDS*0..50]->(n:Column) WITH DISTINCT n
MATCH (n)<-[:HAS_COLUMN]-(d:Dataset) RETURN DISTINCT d.urn, n.urn"""
    name = urn.removeprefix(dataset_urn(LAKE, ""))
    change = {"type": "column_drop", "urn": urn, "column": "c0"}
    floor = (bare, {"urn": column_urn(LAKE, name, "c0")})
    return _graphql("blast radius of a column", _IMPACT, {"changes": [change]}, _affected, floor)


def _walk(answer: Any) -> Mapping[str, Any]:
    return {
        "nodes": len(answer["nodes"]),
        "edges": len(answer["edges"]),
        "truncated": answer["truncated"],
    }


def _table(answer: Any) -> Mapping[str, Any]:
    nodes, edges = (len(next(iter(answer[name].values()))) for name in ("nodes", "edges"))
    return {"nodes": nodes, "edges": edges, "truncated": answer["truncated"]}


def _connection(answer: Any) -> Mapping[str, Any]:
    return {"rows": len(answer["edges"])}


def _runs(answer: Any) -> Mapping[str, Any]:
    return _connection(answer["runs"])


def _exists(answer: Any) -> Mapping[str, Any]:
    return {"rows": int(answer is not None)}


def _touched(answer: Any) -> Mapping[str, Any]:
    nodes = [edge["node"] for edge in answer["edges"]]
    touched = [one["downstream"] for one in nodes]
    return {
        "rows": len(nodes),
        "downstream": sum(len(one["datasets"]) + len(one["jobs"]) for one in touched),
        "truncated": any(one["truncated"] for one in touched),
    }


def _affected(answer: Any) -> Mapping[str, Any]:
    return {"rows": answer["affectedCount"], "truncated": answer["truncated"]}


def counted(question: Question, body: bytes) -> dict[str, Any]:
    """Return the size of an answer and the number of its items."""
    return {**question.count(json.loads(body)), "bytes": len(body)}
