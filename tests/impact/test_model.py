"""Values of the dependency model."""

from __future__ import annotations

from headwater.code_analysis.model import ALL
from headwater.impact.model import Consumer, DependencyModel, PropagatedChange, Table

T = Table("dataset:db:t", "t", ("ID", "x"))
JOB = Consumer("job:etl:j", "JOB", {"dataset:db:o": frozenset({T.urn}), "dataset:db:p": None})


def test_columns_are_spelled_as_the_table_spells_them() -> None:
    assert T.spelling_of("id") == "ID"
    assert T.column_urn("id") == "column:db:t:ID"
    assert Table("table:new", "new").column_urn("a") == "table:new:a"


def test_outputs_that_may_come_from_a_table() -> None:
    assert JOB.outputs_from(T.urn) == ["dataset:db:o", "dataset:db:p"]
    assert JOB.outputs_from("dataset:db:other") == ["dataset:db:p"]


def test_the_code_of_a_consumer_is_loaded_once() -> None:
    loads: list[int] = []

    def load() -> None:
        loads.append(1)

    consumer = Consumer("job:etl:j", load_code=load)
    assert consumer.code is None
    assert consumer.code is None
    assert loads == [1]


def test_a_renamed_column_is_gone_for_values_made_of_it() -> None:
    change = PropagatedChange(T.urn, "x", "renamed", path=("column:db:t:x",))
    handed_on = change.through(JOB, "dataset:db:o", "x", "column:db:o:x", same=True)
    assert (handed_on.effect, handed_on.severity, handed_on.distance) == ("renamed", "breaking", 1)
    derived = change.through(JOB, "dataset:db:o", "y", "column:db:o:y", same=False)
    assert derived.effect == "gone"
    assert derived.path == ("column:db:t:x", "column:db:o:y")
    assert change.as_stale(JOB, "dataset:db:o").severity == "warning"


def test_a_narrowed_type_is_another_meaning_for_values_made_of_it() -> None:
    change = PropagatedChange(T.urn, "x", "narrowed")
    derived = change.through(JOB, "dataset:db:o", "y", "column:db:o:y", same=False)
    assert (derived.effect, derived.severity) == ("redefined", "warning")


def test_a_hidden_consumer_adds_no_distance() -> None:
    hidden = Consumer("job:etl:hidden", is_hidden=True)
    change = PropagatedChange(T.urn, "x", "gone")
    assert change.through(hidden, "dataset:db:o", "x", "x", same=True).distance == 0


def test_a_sure_change_of_a_table_is_one_of_each_column() -> None:
    model = DependencyModel({T.urn: T}, {}, lambda _: {})
    changes = model.column_changes(PropagatedChange(T.urn, ALL, "gone", path=(T.urn,)))
    assert [(one.column, one.of_table) for one in changes] == [("ID", True), ("x", True)]
    assert model.column_changes(PropagatedChange(T.urn, ALL, "gone", sure=False)) == []
    assert model.table("dataset:db:unknown").name == "unknown"


def test_the_other_inputs_of_a_consumer() -> None:
    model = DependencyModel({}, {"dataset:db:a": [JOB], "dataset:db:b": [JOB]}, lambda _: {})
    assert [table.name for table in model.other_inputs(JOB, "dataset:db:a")] == ["b"]
