"""The steps of a run in GraphQL, from the facet of a real run to the answer."""

from __future__ import annotations

import pandas
import pytest

from headwater import steps
from headwater.cypher.driver.database import Database
from headwater.graphql.in_process import InProcessSchema
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j

RUN = "00000000-0000-4000-8000-000000000001"
QUERY = """query Steps($run: ID!) { run(runId: $run) { steps {
  number name error inputs { rowCount fromStep nullCounts } outputs { columns }
  rows { key dropped } } } }"""


@steps.track_transformation(rows=steps.rows("id"))
def clean(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame.dropna()


def test_recorded_steps_are_answered(database: Database) -> None:
    empty(database)
    with steps.run(job="daily", namespace="shop", run_id=RUN) as run:
        clean(pandas.DataFrame({"id": [1, 2], "mail": ["a", None]}))
    write_events(database, [run.event("START"), run.event("COMPLETE")])
    schema = InProcessSchema(GraphView(database))
    try:
        answer = schema.execute(QUERY, {"run": RUN})
        assert answer["data"]["run"]["steps"] == [
            {
                "number": 1,
                "name": "clean",
                "error": None,
                "inputs": [{"rowCount": 2, "fromStep": None, "nullCounts": {"mail": 1}}],
                "outputs": [{"columns": ["id", "mail"]}],
                "rows": {"key": "id", "dropped": 1},
            }
        ]
    finally:
        schema.close()
