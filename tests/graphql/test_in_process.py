"""The schema without a server: answers as a client receives them; every document fits it."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

import headwater.client
from headwater.cypher.driver.database import Database
from headwater.graphql.in_process import InProcessSchema
from headwater.graphql.query_limits import COST_MAX, exceeded_limit, measure
from headwater.graphql.schema import create_schema, sdl
from headwater.lineage.view import GraphView

DOCUMENTS = sorted((Path(headwater.client.__file__).parent / "documents").glob("*.graphql"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_fits_the_schema_and_its_limits(path: Path) -> None:
    document = parse(path.read_text(encoding="utf-8"))
    assert validate(build_schema(sdl()), document) == []
    size = measure(document, create_schema()._schema, {"first": 200, "depth": 50})
    assert exceeded_limit(size, COST_MAX) is None


@pytest.mark.neo4j
def test_an_answer_has_data_and_errors(database: Database) -> None:
    schema = InProcessSchema(GraphView(database))
    try:
        answer = schema.execute("query ($a: ID!) { answer(answerId: $a) { urn } }", {"a": "none"})
        assert answer["data"] == {"answer": None}
        assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"
        register = 'mutation { registerSource(input: {name: "x"}) { urn } }'
        assert "cannot send events" in schema.execute(register, {})["errors"][0]["message"]
    finally:
        schema.close()
