"""Values of the dependency model."""

from __future__ import annotations

import tracemalloc

import pytest

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


@pytest.mark.parametrize(
    ("written", "is_other"),
    [("b", True), ("x.B", True), ("place", True), ("a", False), ("c", False)],
)
def test_a_name_may_mean_another_input_of_a_consumer(written: str, is_other: bool) -> None:
    tables = [Table("dataset:db:a", "a"), Table("dataset:db:b", "b", other_name="s3://x/place")]
    readers = {table.urn: [JOB] for table in tables}
    model = DependencyModel({table.urn: table for table in tables}, readers, lambda _: {})
    name = tuple(written.split("."))
    assert model.is_other_input(name, JOB, "dataset:db:a") == is_other
    assert not model.is_other_input(name, Consumer("job:etl:none"), "dataset:db:a")


def test_the_names_of_inputs_take_no_memory_for_each_consumer() -> None:
    tables = [Table(f"dataset:db:t{number}", f"a.b.c.d.t{number}") for number in range(100)]
    consumers = [Consumer(f"job:etl:j{number}") for number in range(300)]
    readers = dict.fromkeys([table.urn for table in tables], consumers)
    model = DependencyModel({table.urn: table for table in tables}, readers, lambda _: {})
    tracemalloc.start()
    for consumer in consumers:
        assert model.is_other_input(("t1",), consumer, "dataset:db:t2")
        assert not model.is_other_input(("t2",), consumer, "dataset:db:t2")
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 2**20
