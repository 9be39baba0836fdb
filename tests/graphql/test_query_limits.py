"""How large a query may be: sizes worked out by hand, and documents that are made to take long."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from graphql import get_introspection_query, parse
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from headwater.graphql import query_limits
from headwater.graphql.query_limits import (
    ALIASES_MAX,
    COST_MAX,
    DEPTH_MAX,
    LIST_ASSUMED,
    LIST_MAX,
    Size,
    exceeded_limit,
    measure,
)
from headwater.graphql.schema import create_schema
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.view import GraphView
from tests.graphql.conftest import Served

SCHEMA = create_schema()
ROOT = Path(__file__).parents[2]
L = LIST_ASSUMED


def size(query: str, **variables: Any) -> Size:
    return measure(parse(query, max_tokens=4_000), SCHEMA._schema, variables)


def cost(query: str, **variables: Any) -> int:
    return size(query, **variables).cost


def refusal(query: str, **variables: Any) -> tuple[str, str]:
    """Return code and message of the one error of a query, without a database."""
    result = asyncio.run(SCHEMA.execute(query, variable_values=variables))
    assert result.data is None
    assert result.errors
    return (result.errors[0].extensions or {})["code"], result.errors[0].message


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # A run and its id.
        ('{ run(runId: "x") { runId } }', 2),
        # A list without a length counts as LIST_ASSUMED: the run, and as many names.
        ('{ run(runId: "x") { inputs { name } } }', 1 + 1 + L),
        # Lists in lists multiply.
        ('{ run(runId: "x") { inputs { producedBy { name } } } }', 1 + 1 + L * (1 + L)),
        # A list of scalars is one value.
        ('{ dataset(urn: "x") { columns } }', 2),
        # `first` as written, and as the schema has it (20).
        ('{ dataset(urn: "x") { versions(first: 7) { nodes { urn name } } } }', 1 + 1 + 1 + 7 * 2),
        ('{ dataset(urn: "x") { versions { nodes { urn name } } } }', 1 + 1 + 1 + 20 * 2),
        # The page of a connection multiplies its edges, not its other fields.
        (
            "{ failedRuns(first: 5) { edges { cursor node { runId } } pageInfo { endCursor } } }",
            1 + 1 + 5 * 3 + 2,
        ),
        # A list inside a page is assumed, not as long as the page.
        (
            "{ failedRuns(first: 5) { edges { node { inputs { name } } } } }",
            1 + 1 + 5 * (1 + 1 + L),
        ),
        # The hops of a traversal.
        ('{ lineage(urn: "x", depth: 3) { nodes { urn } truncated } }', 1 + 1 + 3 * L + 1),
        # Aliases and repetitions count each time.
        ('{ a: run(runId: "x") { runId } b: run(runId: "x") { runId } }', 4),
        ('{ run(runId: "x") { runId runId runId } }', 4),
        # Fragments, named and inline, as often as they are spread.
        ('{ run(runId: "x") { ...f ...f } } fragment f on PipelineRun { runId status }', 5),
        ('{ run(runId: "x") { ... { runId } ... on PipelineRun { status } } }', 3),
        (
            (
                "{ failedRuns(first: 5) { ...p } } fragment p on FailedRunConnection { edges { "
                "cursor } }"
            ),
            1 + 1 + 5,
        ),
        # @skip and @include are ignored.
        ('{ run(runId: "x") { runId @skip(if: true) status @include(if: false) } }', 3),
        # All operations count, whichever is named.
        ('query a { run(runId: "x") { runId } } query b { run(runId: "x") { runId } }', 4),
        # A length of zero or less counts as one.
        ("{ failedRuns(first: 0) { edges { cursor } } }", 3),
        ("{ failedRuns(first: -5) { edges { cursor } } }", 3),
        # No list is longer than LIST_MAX; the field itself reports the problem with its
        # argument.
        (
            "{ failedRuns(first: 99999999999999999999999999) { edges { cursor } } }",
            1 + 1 + LIST_MAX,
        ),
        # An unknown field counts as one value, with its own fields.
        ('{ nothing { at all } run(runId: "x") { nor { this } } }', 3 + 3),
    ],
)
def test_cost(query: str, expected: int) -> None:
    assert cost(query) == expected


def test_cost_of_variables() -> None:
    query = "query ($n: Int = 3) { failedRuns(first: $n) { edges { cursor } } }"
    assert cost(query) == 1 + 1 + 3
    assert cost(query, n=9) == 1 + 1 + 9
    unset = "query ($n: Int) { failedRuns(first: $n) { edges { cursor } } }"
    assert cost(unset, n=9) == 1 + 1 + 9
    # Without a value, or with null, the default of the schema applies.
    assert cost(unset) == cost(unset, n=None) == 1 + 1 + 20
    # The field refuses any other value.
    assert cost(unset, n="many") == cost(unset, n=10**30) == 1 + 1 + LIST_MAX
    assert cost(unset, n={"n": 1}, huge="x" * 60_000) == 1 + 1 + LIST_MAX


def test_depth_and_aliases_follow_fragments() -> None:
    query = """{ r: run(runId: "x") { ...f ...f } }
      fragment f on PipelineRun { i: inputs { n: name producedBy { ...g } } }
      fragment g on Job { name }"""
    assert size(query)[:2] == (3, 1 + 2 * 2)
    assert size(get_introspection_query()).depth <= 1


def test_repeats() -> None:
    assert (
        size('{ run(runId: "x") { job { name } job { urn } j: job { urn } runId runId } }').repeats
        == 1
    )
    # Through fragments, and inside repeated fields.
    f = " fragment f on PipelineRun { job { name } ... { job { urn } } }"
    g = " fragment g on PipelineRun { ...f ...f }"
    assert size('{ run(runId: "x") { ...f } }' + f).repeats == 1
    assert size('{ run(runId: "x") { ...g job { name } } }' + f + g).repeats == 4
    assert size('{ run(runId: "x") { children { ...f } children { ...f } } }' + f).repeats == 1 + 2
    assert size("{ a }" + f).repeats == 1
    spread = " ".join(f"...f{n}" for n in range(150))
    each = " ".join(f"fragment f{n} on PipelineRun {{ job {{ name }} }}" for n in range(150))
    assert "repeats" in refusal('{ run(runId: "x") { ' + spread + " } } " + each)[1]


def test_a_cycle_ends() -> None:
    query = (
        '{ run(runId: "x") { ...a } } fragment a on PipelineRun { runId ...b } fragment '
        "b on PipelineRun { ...a }"
    )
    assert size(query).cost == 2
    assert refusal(query)[0] == "BAD_REQUEST"


def bomb(levels: int, leaf: str, alias: str = "") -> str:
    doubled = (
        f"fragment f{n} on PipelineRun {{ {alias} ...f{n + 1} ...f{n + 1} }}" for n in range(levels)
    )
    return (
        '{ run(runId: "x") { ...f0 } } '
        + " ".join(doubled)
        + f" fragment f{levels} on PipelineRun {{ {leaf} }}"
    )


PAGES = (
    "{ failedRuns(first: 200) { edges { node { inputs { readBy { outputs { readBy { "
    "name } } } } } } } }"
)
HIDDEN = "failedRuns(first: 0) { edges { node { ...f0 } } }"
NESTED = "job { " + "inputs { producedBy { " * 6 + "urn" + " } }" * 6 + " }"


@pytest.mark.parametrize(
    ("query", "code", "word"),
    [
        (bomb(60, "runId"), "TOO_COSTLY", "values"),
        (bomb(25, "runId", alias="a: status"), "BAD_REQUEST", "aliases"),
        # Nothing at all, 2^40 times.
        (bomb(40, "runId @include(if: false)"), "TOO_COSTLY", "values"),
        ('{ run(runId: "x") { ' + NESTED + " } }", "TOO_COSTLY", "values"),
        (PAGES, "TOO_COSTLY", "values"),
        # Under an empty page too.
        (bomb(40, "runId").replace('run(runId: "x") { ...f0 }', HIDDEN), "TOO_COSTLY", "values"),
        # Introspection, as deep as it goes.
        (
            "{ __schema { types { " + "fields { type { " * 3 + "name" + " } }" * 3 + " } } }",
            "BAD_REQUEST",
            "introspection",
        ),
        (
            '{ __type(name: "Query") { ' + "fields { type { " * 9 + "name" + " } }" * 9 + " } }",
            "TOO_COSTLY",
            "values",
        ),
        ('{ run(runId: "x") { ' + "runId " * 10_000 + "} }", "BAD_REQUEST", "tokens"),
        ("{ " + "a { " * 900 + "b" + " }" * 900 + " }", "BAD_REQUEST", "nested"),
        ("{ run(runId: " + "[" * 1_500 + "]" * 1_500 + ") { runId } }", "BAD_REQUEST", "nested"),
        (
            "{ lineage(dataset: " + "{a: " * 900 + "1" + "}" * 900 + ") { truncated } }",
            "BAD_REQUEST",
            "nested",
        ),
        # Wide: every spelling of the same thing is compared with every other.
        (
            '{ run(runId: "x") { ' + "inputs { name urn type } " * 600 + "} }",
            "BAD_REQUEST",
            "repeats",
        ),
        (
            "{ a } fragment f on PipelineRun { " + "inputs { name urn type } " * 600 + "}",
            "BAD_REQUEST",
            "repeats",
        ),
        ("query a { run } " * 700, "BAD_REQUEST", ""),
    ],
)
def test_attacks_are_refused_at_once(query: str, code: str, word: str) -> None:
    # Processor time of this process: a comparison in pairs would take minutes.
    began = time.process_time()
    found, message = refusal(query)
    assert time.process_time() - began < 5
    assert (found, word in message) == (code, True), message


def test_a_refusal_names_the_size_and_the_limit() -> None:
    result = asyncio.run(
        create_schema(cost_max=50).execute("{ failedRuns(first: 60) { edges { cursor } } }")
    )
    assert result.errors
    assert result.errors[0].message == "the answer may hold 62 values; the limit is 50"
    assert (result.errors[0].extensions or {}).items() >= {
        "code": "TOO_COSTLY",
        "cost": 62,
        "limit": 50,
    }.items()
    at_limit = asyncio.run(
        create_schema(cost_max=62).execute("{ failedRuns(first: 60) { nothing edges { cursor } } }")
    )
    assert at_limit.errors
    assert "values" not in at_limit.errors[0].message or "63" in at_limit.errors[0].message


FIELDS = {
    "PipelineRun": ["runId", "inputs", "job", "children"],
    "Dataset": ["name", "producedBy", "versions"],
    "Job": ["name", "runs", "inputs"],
    "Artifact": ["urn", "run"],
}
TYPES = {
    "inputs": "Dataset",
    "job": "Job",
    "children": "PipelineRun",
    "producedBy": "Job",
    "versions": "Artifact",
    "runs": "PipelineRun",
    "run": "PipelineRun",
}


@st.composite
def selections(draw: st.DrawFn, kind: str = "PipelineRun", depth: int = 3) -> str:
    """Draw a selection of a type, with or without fragments."""
    leaves = [name for name in FIELDS[kind] if name not in TYPES]
    names = draw(
        st.lists(st.sampled_from(FIELDS[kind] if depth else leaves), min_size=1, max_size=3)
    )
    inner = [
        f"{name} {{ {draw(selections(TYPES[name], depth - 1))} }}" if name in TYPES else name
        for name in names
    ]
    text = " ".join(inner)
    return draw(st.sampled_from([text, f"... {{ {text} }}", f"... on {kind} {{ {text} }}"]))


@given(selections(), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_fragments_count_as_their_text(selection: str, times: int) -> None:
    """A fragment that is spread n times is as large as its text written n times."""
    written = '{ run(runId: "x") { ' + f"{selection} " * times + "} }"
    spread = (
        '{ run(runId: "x") { '
        + "...f " * times
        + "} } fragment f on PipelineRun { "
        + selection
        + " }"
    )
    assert size(spread) == size(written)
    more = '{ run(runId: "x") { ' + f"{selection} " * (times + 1) + "} }"
    assert size(more).cost > size(written).cost


def test_documented_queries_are_within_the_limits() -> None:
    """Check every query in the documentation, the example of the page, and the page's schema
    query.
    """
    texts = [
        path.read_text(encoding="utf-8") for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md")
    ]
    queries = re.findall(r"```graphql\n(.*?)```", "\n".join(texts), re.DOTALL)
    page = (ROOT / "headwater/ui/static/graphiql.js").read_text(encoding="utf-8")
    queries += re.findall(r"const example = `(.*?)`", page, re.DOTALL)
    flags = (
        "specified_by_url",
        "directive_is_repeatable",
        "schema_description",
        "input_value_deprecation",
    )
    queries.append(get_introspection_query(descriptions=True, **dict.fromkeys(flags, True)))
    assert len(queries) >= 3
    for query in queries:
        found = size(query)
        assert exceeded_limit(found, COST_MAX) is None, (query, found)
        # There is room to extend each of them.
        assert found.depth < DEPTH_MAX
        assert found.aliases < ALIASES_MAX


@pytest.mark.neo4j
def test_a_costly_query_does_not_hold_up_the_loop_that_accepts_events(
    view: GraphView, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hold the measurement of a query until the server's loop has run; one loop would deadlock."""

    async def submit(*_: object) -> None:
        raise AssertionError("nothing is submitted here")

    validated, went_on = threading.Event(), threading.Event()
    waited: list[bool] = []

    def delayed(*arguments: Any) -> Size:
        validated.set()
        waited.append(went_on.wait(10))
        return measure(*arguments)

    async def going_on() -> None:
        while not validated.is_set():
            await asyncio.sleep(0.01)
        went_on.set()

    monkeypatch.setattr(query_limits, "measure", delayed)
    with TestClient(served(graphql_routes(view, submit))) as client:
        assert client.portal is not None
        client.portal.start_task_soon(going_on)
        assert (
            client.post(
                "/graphql", json={"query": '{ run(runId: "x") { job { name } } }'}
            ).status_code
            == 200
        )
    assert waited == [True]
