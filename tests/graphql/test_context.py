"""The loaders batch: no field costs a statement per row, in a graph of 25 nodes per type as of 1.

Each type that a list can hold is reached by a query of `ROWS`, which selects every field of it, so
a new field is covered automatically. A new type or query fails until it has an entry.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import (
    FieldNode,
    GraphQLArgument,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    parse,
    visit,
)
from neo4j import Driver

from headwater.access.principal import ANONYMOUS
from headwater.cypher.driver.database import Database
from headwater.graphql.context import Context
from headwater.graphql.schema import create_schema
from headwater.health.findings.models import Consumer, Episode, Finding
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import dataset_urn
from tests.conftest import erase
from tests.event_builders import dataset, dataset_event, run_event, symlinks
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import Event, answer, run, version, write_events

pytestmark = pytest.mark.neo4j

SCHEMA = create_schema(cost_max=10**9)
MANY = 25
TAGGED = {"tags": {"tags": [{"key": "pii", "field": "mail"}]}}
FAILING = {
    "dataQualityAssertions": {
        "assertions": [{"assertion": "not_null", "column": "id", "success": False}]
    }
}
# Loaders batch per turn of the event loop, and answers arrive in any order: a few more turns
# are no statement per row.
TURNS_MAX = 12


def history(count: int) -> Iterator[list[Event]]:
    """Write `count` runs of one job, versions and readers of one dataset, failures, answers and
    aliases.
    """
    yield [native.source_event(f"raw{n:02d}", namespace="db", origin="CRM") for n in range(count)]
    for n in range(count):
        yield run(
            f"load{n:02d}",
            "load",
            [f"raw{n:02d}"],
            ["hub"],
            minute=2 * n,
            derived={"hub": [f"raw{n:02d}"]},
        )
    raws, tables = [f"raw{n:02d}" for n in range(count)], [f"made{n:02d}" for n in range(count)]
    for n in range(count):
        yield run(
            f"read{n:02d}",
            f"reader{n:02d}",
            ["hub"],
            [tables[n]],
            minute=200 + n,
            derived={tables[n]: ["hub"]},
        )
    yield run("wide", "wide", [*raws, "hub"], ["all"], minute=300, derived={"all": raws})
    yield run("down", "down", ["all"], ["end"], minute=310)
    for n in range(count):
        yield run(
            f"bad{n:02d}",
            f"breaks{n:02d}",
            ["hub"],
            [f"lost{n:02d}"],
            minute=320 + n,
            status="FAIL",
            error="disk full",
        )
        yield run(f"part{n:02d}", f"part{n:02d}", [], [], minute=400, parent="dag")
        yield answer(f"answer{n:02d}", "all", tables[n], minute=500 + n)
        yield [dataset_event(f"hub{n:02d}", 5, symlinks(f"alias{n:02d}"))]
        yield [dataset_event(f"people{n:02d}", 5, TAGGED)]
        yield [
            run_event(
                f"check{n:02d}",
                minute=700 + n,
                job="check",
                inputs=[dataset(tables[n], usage=FAILING, side="input")],
            )
        ]
    yield answer("report", "end", *tables, minute=600)


def found_problems(count: int) -> list[tuple[Finding, list[str]]]:
    """Return findings of `count` datasets, all caused by one of the hub."""
    hub = episode("mean", dataset_urn("db", "hub"), 1, key="00")
    return [
        (finding(hub, consumers=[consumer(n) for n in range(count)]), ["db"]),
        *((finding(one, root=hub.id), ["db"]) for one in map(stale, range(count))),
    ]


def stale(number: int) -> Episode:
    return episode("stale-dataset", dataset_urn("db", f"made{number:02d}"), 2 + number)


def consumer(number: int) -> Consumer:
    return Consumer(f"run:read{number:02d}", "PIPELINE_RUN", (), is_critical=False)


# A query with a list of each type; %s stands for the selected fields.
ROWS = {
    "Answer": '{ dataset(urn: "dataset:db:all") { answers(first: 100) { nodes { %s } } } }',
    "Artifact": '{ dataset(urn: "dataset:db:hub") { versions(first: 100) { nodes { %s } } } }',
    "Column": '{ trace(answerId: "report") { columns { %s } } }',
    "TaggedColumn": '{ columns(tag: "pii", first: 100) { nodes { %s } } }',
    "FailedCheck": "{ failedChecks(first: 100) { totalCount truncated nodes { %s } } }",
    "Finding": "{ findings(first: 100) { nodes { %s } } }",
    "Dataset": '{ job(urn: "job:etl:wide") { inputs { %s } } }',
    "FailedRun": "{ failedRuns(first: 100) { nodes { %s } } }",
    "Job": '{ dataset(urn: "dataset:db:hub") { readBy { %s } } }',
    "Namespace": "{ namespaces { nodes { %s } } }",
    "PipelineRun": '{ job(urn: "job:etl:load") { runs(first: 100) { nodes { %s } } } }',
    "Source": '{ trace(answerId: "report") { sources { %s } } }',
}
# The other queries.
QUESTIONS = {
    "alerts": (
        "{ alerts(first: 100) { totalCount nodes { title findings { node { name } } "
        "consumers { node { name } } } } }"
    ),
    "answers": "{ answers(first: 100) { totalCount nodes { urn type citations { urn } } } }",
    "datasets": "{ datasets(first: 100) { totalCount nodes { urn type producedBy { type } } } }",
    "columns": '{ columns(tag: "pii", first: 100) { totalCount nodes { urn tags } } }',
    "failedChecks": "{ failedChecks(first: 100) { totalCount nodes { run { job { type } } } } }",
    "jobs": "{ jobs(first: 100) { totalCount nodes { urn type inputs { type } } } }",
    "namespaces": "{ namespaces { totalCount nodes { name } } }",
    "node": '{ node(id: "dataset:db:hub") { id } }',
    "policies": "{ policies { error loadedAt policies { name on condition } } }",
    "policyViolations": (
        "{ policyViolations(first: 100) { totalCount edges { node { policy urn owners } } } }"
    ),
    "competingDatasets": (
        "{ competingDatasets(first: 100) { totalCount nodes { preferred columns sources "
        "datasets { urn certified deprecated } } } }"
    ),
    "policyCheck": (
        '{ policyCheck(files: [{path: "a.yaml", text: "name: a\\nrule: required-owners"}], '
        "first: 100) { nodeCount violationCount edges { node { policy urn owners } } } }"
    ),
    "runs": "{ runs(first: 100) { totalCount nodes { urn job { type } inputs { type } } } }",
    "answer": (
        '{ answer(answerId: "report") { citations { artifact { dataset { type } } '
        "source { urn } } } }"
    ),
    "columnLineage": """{ columnLineage(dataset: {namespace: "db", name: "all"}, column: "id") {
      nodes { urn distance } } }""",
    "conformance": "{ conformance { producers { producer findings { rule } } } }",
    "coverage": (
        "{ coverage(days: 3650) { namespaces { nodes { namespace } } certifiedPaths "
        "{ integrity } } }"
    ),
    "failingPipelines": (
        "{ failingPipelines(first: 100) { totalCount nodes { failedRuns runs job { type } "
        "lastRun { runId error } } } }"
    ),
    "breakdowns": (
        "{ breakdowns { topDatasets(first: 100) { consumers dataset { type } } "
        "modelVersions { completeness dataset { type } } costAgainstFidelity { datasets } } }"
    ),
    "figures": "{ figures { name value nodes(first: 100) { urn } history { value } } }",
    "finding": '{ finding(id: "finding:mean:dataset:db:hub@00") { node { name } cause { rule } } }',
    "findings": (
        "{ findings(first: 100) { totalCount nodes { rule owners node { overview { state } "
        "findings { rule } } cause { rule } affected { consumers { node { name } } } } } }"
    ),
    "freshness": '{ freshness(urn: "dataset:db:all") { newestAt sources { urn } } }',
    "lineage": (
        '{ lineage(urn: "dataset:db:hub") { nodes { urn name distance } edges { source } } }'
    ),
    "lineageTable": '{ lineageTable(urn: "dataset:db:hub") }',
    "ownedBy": '{ ownedBy(owner: "nobody") { nodes { urn } } }',
    "overdueRuns": "{ overdueRuns { running nodes { run { runId job { type } } } } }",
    "personalData": (
        "{ personalData(first: 100) { totalCount exposedCount nodes { urn path steps { job } } } }"
    ),
    "owners": "{ owners { edges { node { name datasets } } unownedDatasets } }",
    "quality": (
        '{ quality(urn: "dataset:db:hub") { failed assertions { name } '
        "metrics(first: 5) { rowCount } } }"
    ),
    "replayPlan": """{ replayPlan(urn: "run:load00") { steps { runs { job { name owners } run {
    runId error }
      inputs { dataset { type } waitFor { runId } } outputs { dataset { type } version { status }
      lastGood { status } }
      } } } }""",
    "rootCause": (
        '{ rootCause(urn: "dataset:db:lost00") { candidates { kind run { runId job { type } } } '
        "stale { reason dataset { type } failedRun { job { type } } } } }"
    ),
    "schemaChanges": (
        "{ schemaChanges(first: 100) { nodes { dataset { type } version { rowCount } } } }"
    ),
    "schemaDiff": "query ($v: ID!) { schemaDiff(before: $v, after: $v) }",
    "nodesByName": '{ nodesByName(name: "made", first: 100) { urn name } }',
    "contracts": (
        "{ contracts(first: 100) { totalCount nodes { contractId state clauses { kept } "
        "dataset { type } versions { changes { clause } } "
        "violations { job { type } consumers { type } } } } }"
    ),
    "contractViolations": (
        "{ contractViolations(first: 100) { totalCount nodes { since job { type } run { status } "
        "consumers { type } dataset { type } } } }"
    ),
    "contractCheck": """{ contractCheck(namespace: "db", name: "hub",
      contract: {contractId: "a", version: "1"}) { state dataset { type } clauses { kept } } }""",
    "inventories": "{ inventories { name datasets gaps covered } }",
    "inventoryAssets": (
        "{ inventoryAssets(first: 100) { totalCount nodes { hasLineage dataset { owners } } } }"
    ),
    "traces": "{ traces(first: 20) { traceId link truncated services { name } runs { runId } } }",
    "models": (
        "{ models(first: 100) { totalCount nodes { urn dataset { type } trainedOn { type }"
        " deprecatedInputs { type } versions { urn featureCompleteness } } } }"
    ),
    "modelsUsing": (
        '{ modelsUsing(urn: "dataset:db:hub") { evidence model { urn dataset { type } } } }'
    ),
    "serviceLevels": "{ serviceLevels { id value budgetLeft burnRate history { value } } }",
    "search": '{ search(text: "made", first: 100) { edges { node { urn name } } totalCount } }',
    "aliases": "{ aliases(first: 100) { nodes { name { name } dataset { name } declaredBy } } }",
    "unusedDatasets": (
        "{ unusedDatasets(days: 1, first: 100) { edges { node { bytes dataset "
        "{ type owners } } } } }"
    ),
    "usage": """{ usage(urn: "dataset:db:hub", days: 3650) { chargeback { owner } answers {
    content }
      consumers(first: 100) { nodes { job { type } owners } } } }""",
}
# Queries that return one object, of a type that is covered among the rows, and their arguments.
SINGLE = {"run", "dataset", "job", "trace", "failedRuns"}
# Other tests ask these, because they need more history or a spool: tests/impact, tests/health.
ELSEWHERE = {"impact", "platform"}


def selected(type: GraphQLObjectType | GraphQLInterfaceType) -> str:
    """Return every field of a type without required arguments; of fields with fields of their own,
    the leaves.
    """
    return " ".join(
        _selected(name, field) for name, field in type.fields.items() if not _needs(field)
    )


def _selected(name: str, field: GraphQLField) -> str:
    inner = get_named_type(field.type)
    if is_leaf_type(inner):
        return name
    assert isinstance(inner, GraphQLObjectType)
    if inner.name.endswith("Connection"):
        return f"{name} {{ {_selected('nodes', inner.fields['nodes'])} }}"
    leaves = [
        leaf
        for leaf, one in inner.fields.items()
        if is_leaf_type(get_named_type(one.type)) and not _needs(one)
    ]
    return f"{name} {{ {' '.join(leaves)} }}"


def _needs(field: GraphQLField) -> bool:
    arguments: list[GraphQLArgument] = list(field.args.values())
    return any(is_required_argument(argument) for argument in arguments)


def case_of(name: str) -> str:
    if name not in ROWS:
        return QUESTIONS[name]
    kind = SCHEMA._schema.type_map[name]
    assert isinstance(kind, GraphQLObjectType)
    return ROWS[name] % selected(kind)


class Counted(Database):
    """The real database, which counts its statements."""

    def __init__(self, database: Database) -> None:
        self.__dict__.update(database.__dict__)
        self.statements: list[str] = []

    def read(self, name: str, /, **options: Any) -> list[dict[str, Any]]:
        self.statements.append(name)
        return super().read(name, **options)


Costs = dict[str, tuple[Counter[str], str]]


def run_all_cases(database: Database) -> Costs:
    """Return the statements and the answer of each case."""

    async def nothing(*_: object) -> None:
        raise AssertionError("nothing is submitted here")

    async def all_of_it() -> Costs:
        found: Costs = {}
        for name in (*ROWS, *QUESTIONS):
            counted = Counted(database)
            context = Context(GraphView(counted), nothing, ANONYMOUS, lambda *_: None)
            variables = {"v": version("hub", "load00")} if name == "schemaDiff" else {}
            result = await SCHEMA.execute(
                case_of(name), variable_values=variables, context_value=context
            )
            assert result.errors is None or name == "schemaDiff", (name, result.errors)
            found[name] = (Counter(counted.statements), json.dumps(result.data, default=str))
        return found

    return asyncio.run(all_of_it())


@pytest.fixture(scope="module")
def both(database: Database, graph_driver: Driver) -> tuple[Costs, Costs]:
    """Return the statements for a graph with one node per type, and for one with many."""
    answers = []
    for count in (1, MANY):
        with graph_driver.session() as session:
            session.run(erase).consume()
        write_events(database, *history(count))
        save(database, found_problems(count))
        answers.append(run_all_cases(database))
    one, many = answers
    return one, many


@pytest.mark.parametrize("name", [*ROWS, *QUESTIONS])
def test_rows_cost_no_statements(name: str, both: tuple[Costs, Costs]) -> None:
    (one, _), (many, _) = both[0][name], both[1][name]
    per_row = {
        covered: times for covered, times in many.items() if times - one[covered] >= TURNS_MAX
    }
    assert per_row == {}, f"asked so often for {MANY} rows, and for one {dict(one)}"


@pytest.mark.parametrize(
    "name",
    ["Answer", "Artifact", "Dataset", "FailedRun", "Job", "PipelineRun", "Source", "lineage"],
)
def test_every_list_has_rows(name: str, both: tuple[Costs, Costs]) -> None:
    """Without rows the test above shows nothing."""
    assert len(both[1][name][1]) > 5 * len(both[0][name][1])


def test_every_question_is_counted() -> None:
    query = SCHEMA._schema.query_type
    assert query is not None
    assert set(query.fields) - QUESTIONS.keys() - SINGLE - ELSEWHERE == set(), "add it to QUESTIONS"


def test_every_type_of_row_is_counted() -> None:
    """Check that every listed type whose resolvers may query has an entry."""
    listed, covered = set[str](), set[str]()
    for kind in SCHEMA._schema.type_map.values():
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__"):
            for field in kind.fields.values():
                if is_list_type(get_nullable_type(field.type)):
                    listed.add(get_named_type(field.type).name)
    for name in (*ROWS, *QUESTIONS):
        covered |= types_of(case_of(name))
    asking = {name for name in listed if _queries_database(name)}
    assert asking - covered == set(), "reach it in ROWS or QUESTIONS"


def _queries_database(name: str) -> bool:
    kind = SCHEMA.get_type_by_name(name)
    return any(field.base_resolver is not None for field in getattr(kind, "fields", ()))


def types_of(query: str) -> set[str]:
    """Return the types whose fields a query selects."""
    found, info = set[str](), TypeInfo(SCHEMA._schema)

    class Types(Visitor):
        def enter_field(self, _: FieldNode, *__: Any) -> None:
            parent = info.get_parent_type()
            if parent is not None:
                found.add(parent.name)

    visit(parse(query), TypeInfoVisitor(info, Types()))
    return found
