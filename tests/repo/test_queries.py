"""The query library on the real server: the plan of each query agrees with its head.

No query scans more than its head declares, and none is assembled from strings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from neo4j import READ_ACCESS, Driver
from neo4j import Query as Statement

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query, load_queries
from headwater.cypher.sandbox.policy import PROCEDURES
from tests.conftest import erase
from tests.repo.repository import python_files, tracked, tree

VALUES: dict[str, Any] = {
    "STRING": "x",
    "INTEGER": 5,
    "FLOAT": 0.5,
    "BOOLEAN": True,
    "DATETIME": datetime(2026, 1, 1, tzinfo=UTC),
    "MAP": {},
    "LIST<STRING>": ["dataset:a:b"],
    "LIST<MAP>": [{}],
}
# The type that EXPLAIN gives a plan, by the access that a head declares.
TYPES = {"read": {"r"}, "write": {"w", "rw"}, "schema": {"s"}}
# A migration may also rename properties, in transactions of so many rows.
MIGRATION_TYPES = {"s", "w", "rw"}
FULL_SCANS = {"AllNodesScan", "DirectedAllRelationshipsScan", "UndirectedAllRelationshipsScan"}
LABEL_SCANS = {"NodeByLabelScan", "UnionNodeByLabelsScan", "DirectedRelationshipTypeScan"}
BATCHES = "TransactionForeach"
# Of what SHOW lists, a start needs the indexes.
SHOWN = ("ShowIndexes", "ShowTransactions")
NEVER = ("LoadCSV", "Show", "Terminate", "Administration", "TransactionForeach", "TransactionApply")

EACH = 300
FILL = """
UNWIND range(1, $each) AS i
WITH $near + ' ' + $type + ' ' + $far + ' ' + i AS name
CREATE (:$($near) {urn: '<' + name})-[:$($type) {dataset: name}]->(:$($far) {urn: '>' + name})
"""
EDGES = [
    "Source FEEDS PipelineRun", "Artifact FEEDS PipelineRun", "PipelineRun PRODUCED Artifact",
    "PipelineRun FEEDS PipelineRun", "PipelineRun DROPPED Dataset", ("PipelineRun PART_OF "
        "PipelineRun"),
    ("PipelineRun TRIGGERS "
        "PipelineRun"), "PipelineRun RETRY_OF PipelineRun", "PipelineRun RUN_OF Job",
    "Source CITED_BY Answer", ("Artifact CITED_BY "
        "Answer"), "Answer CITED_BY Answer", "Column CITED_BY Answer",
    "Artifact DERIVED_FROM Source", ("Artifact DERIVED_FROM "
        "Artifact"), "Dataset DERIVED_FROM Dataset",
    "Dataset FEEDS Job", "Job PRODUCED Dataset", ("Dataset FEEDS "
        "Dataset"), "Job FEEDS Job", "Column FEEDS Column",
    "Job PART_OF Job", "Job TRIGGERS Job", ("Dataset HAS_COLUMN "
        "Column"), "Artifact VERSION_OF Dataset",
    "Source VERSION_OF Dataset", "Symlink SYMLINK_OF Dataset", "Artifact HAS_SCHEMA SchemaVersion",
    "Dataset HAS_SCHEMA SchemaVersion",
    "RunSummary SUMMARY_OF Job", "Analysis ABOUT Dataset",
]  # fmt: skip

QUERIES = [found for _, found in sorted(load_queries().items())]
# The first word of a statement and the text that must follow it, so that prose with that word is no
# match.
CYPHER = re.compile(r"\b(MATCH|MERGE|CREATE|DELETE|UNWIND|CALL)\b\s*(\(|\{|\$|[a-z]+\s*=|[A-Z]+ )")
# The only text that may precede a statement.
EXPLAIN = "EXPLAIN\n"


def statements(found: Query) -> list[str]:
    """Return the statements of a file; a migration holds several, each ended by `;`."""
    body = "\n".join(line for line in found.text.splitlines() if not line.startswith("//"))
    return [part.strip() for part in body.split(";\n") if part.strip(" ;\n")]


def is_migration(found: Query) -> bool:
    """Return True for a migration."""
    return found.name.startswith("migrations/")


def by_name(found: Query) -> str:
    return found.name


class Plan(NamedTuple):
    """The result of EXPLAIN: the plan's type, and its operators with their details."""

    kind: str
    root: dict[str, Any]

    def operators(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield (name, details, the operator with all below it)."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node["operatorType"].partition("@")[0], str(node["args"].get("Details", "")), node
            waiting.extend(node.get("children", []))


def plans(driver: Driver, found: Query) -> Iterator[Plan]:
    parameters = {parameter.name: VALUES[parameter.type] for parameter in found.parameters}
    with driver.session(default_access_mode=READ_ACCESS) as session:
        for statement in statements(found):
            # The driver's types refuse text made at run time; this text is from a file, and only
            # explained.
            summary = session.run(Statement(EXPLAIN + statement), parameters).consume()
            yield Plan(summary.query_type or "", summary.plan or {"operatorType": "", "args": {}})


def is_one_row(plan: dict[str, Any]) -> bool:
    """Return True if an operator and all below it yield at most one row for each row that came
    in.
    """
    leaves = [node for name, _, node in Plan("", plan).operators() if not node.get("children")]
    unique = {"Argument", "NodeUniqueIndexSeek", "NodeUniqueIndexSeek(Locking)"}
    return all(leaf["operatorType"].partition("@")[0] in unique for leaf in leaves)


@pytest.fixture(scope="module")
def filled_graph(graph_driver: Driver, database: Database) -> Iterator[Driver]:
    """Fill the graph with some of every kind of node and edge.

    In a graph without any, a scan costs nothing, and the planner's choice proves nothing.
    """
    assert database
    with graph_driver.session() as session:
        session.run(erase).consume()
        for kind in EDGES:
            near, type, far = kind.split()
            session.run(FILL, {"near": near, "type": type, "far": far, "each": EACH}).consume()
        session.run("CALL db.prepareForReplanning(60)").consume()
        yield graph_driver
        session.run(erase).consume()
        session.run("CALL db.clearQueryCaches()").consume()


def test_every_file_is_in_the_library() -> None:
    files = {name for name in tracked() if name.endswith(".cypher")}
    loaded = {f"headwater/cypher/{found.name.removesuffix('.cypher')}.cypher" for found in QUERIES}
    assert files == loaded


@pytest.mark.neo4j
@pytest.mark.parametrize("found", QUERIES, ids=by_name)
def test_the_plan_has_the_declared_access_scans_and_calls(
    filled_graph: Driver, found: Query
) -> None:
    purpose = found.purpose.lower()
    for plan in plans(filled_graph, found):
        assert plan.kind in (MIGRATION_TYPES if is_migration(found) else TYPES[found.access])
        for name, details, node in plan.operators():
            assert name not in FULL_SCANS
            assert "scan" in purpose or name not in LABEL_SCANS, details
            # Two nodes, each found by its key, are multiplied too: one by one.
            assert "cartesian" in purpose or name != "CartesianProduct" or is_one_row(node), details
            is_allowed = name in SHOWN or (is_migration(found) and name == BATCHES)
            assert is_allowed or not name.startswith(NEVER)
            assert name != "ProcedureCall" or details.partition("(")[0] in PROCEDURES


def test_no_query_is_put_together_from_strings() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name in python_files("headwater/")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.expr) and _assembles(node)
    ]
    assert found == []


def _assembles(node: ast.expr) -> bool:
    """Return True if an expression makes text that holds Cypher out of more than one piece."""
    if isinstance(node, ast.JoinedStr):
        pieces = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        return bool(pieces) and _is_cypher(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _is_cypher(node.left) or _is_cypher(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        makes_text = node.func.attr in {
            "format",
            "join",
            "replace",
            "substitute",
            "safe_substitute",
        }
        return makes_text and any(_is_cypher(part) for part in [node.func.value, *node.args])
    return False


def _is_cypher(node: ast.expr) -> bool:
    words = [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return any(CYPHER.search(word) for word in words)


def test_the_check_finds_assembled_queries() -> None:
    for source in (
        "f'MATCH (n:{label}) RETURN n'",
        "'MATCH (n:' + label + ') RETURN n'",
        "'MATCH (n:%s)' % label",
        "'MERGE (n:{})'.format(label)",
        "' '.join(['UNWIND $rows AS row', rest])",
        "'MATCH (n:LABEL)'.replace('LABEL', label)",
    ):
        assert _assembles(ast.parse(source, mode="eval").body), source
    assert not _assembles(ast.parse("f'no match for {name}'", mode="eval").body)
    assert not _assembles(ast.parse("'MATCH (n) RETURN n'", mode="eval").body)


def test_only_explain_is_put_before_a_statement() -> None:
    """Check that the driver gets a name, not an expression, except EXPLAIN before a whole
    statement.
    """
    found = [
        f"{name}:{node.lineno}"
        for name in python_files("headwater/cypher/")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"run", "execute_query"}
        and node.args
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
        and not ast.unparse(node.args[0]).startswith(f"f{EXPLAIN!r}"[:-1])
    ]
    assert found == []


def test_statements_elsewhere_are_few() -> None:
    """Check that other modules have only the smallest statements: to reach the server and identify
    it.
    """
    found = {
        f"{name}: {node.value}"
        for name in python_files("headwater/")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"(MATCH|MERGE|CREATE|DELETE|UNWIND) [($\[]", node.value)
    }
    assert found == set()
