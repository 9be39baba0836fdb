"""What is known about a dataset without any facts."""

from __future__ import annotations

from headwater.governance.contracts.clauses import clauses_of, outcome_of
from headwater.governance.contracts.observations import Observation
from tests.governance.contracts.contracts import day, facet


def test_an_observation_without_facts_keeps_and_breaks_nothing() -> None:
    contract = facet(
        columns=[{"name": "id", "physicalType": "int", "required": True, "unique": True}],
        rules=[{"metric": "rowCount", "operator": "mustBe", "values": [1]}, {"name": "check"}],
        allowed=["id"],
    )
    nothing = Observation("artifact:1", day(0))
    assert [outcome_of(one, nothing).kept for one in clauses_of(contract)] == [None] * 6
