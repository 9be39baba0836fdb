"""Violations over time: who broke which clause, from when to when."""

from __future__ import annotations

import itertools

from headwater.governance.contracts.evaluate import State, assess, violations_of
from tests.governance.contracts.contracts import day, in_force, observed, seen

COLUMNS = [{"name": "id", "physicalType": "bigint", "required": True}, {"name": "mail"}]


def test_a_column_that_a_run_dropped_and_another_brought_back() -> None:
    contract = in_force(columns=COLUMNS)
    given = observed(
        seen(0, fields={"id": "bigint", "mail": "string"}),
        seen(1, fields={"id": "bigint"}),
        seen(2),
        seen(3, fields={"id": "bigint"}),
        seen(4, fields={"ID": "bigint", "mail": "string"}),
    )
    [one] = violations_of([contract], given, day(5))
    assert (one.clause.kind, one.clause.column, one.actual) == ("column", "mail", "missing")
    assert (one.begun_by, one.run, one.job) == ("artifact:db:orders:1", "run:1", "job:etl:load")
    assert (one.since, one.last_seen) == (day(1), day(3))
    assert (one.ended_at, one.ended_by) == (day(4), "artifact:db:orders:4")
    assert assess(contract, given, day(5)).state is State.KEPT
    assert assess(contract, given, day(3.5)).state is State.VIOLATED


def test_a_type_that_holds_more_than_promised() -> None:
    contract = in_force(columns=[{"name": "id", "physicalType": "int"}])
    [one] = violations_of([contract], observed(seen(0, fields={"id": "bigint"})), day(1))
    assert (one.clause.kind, one.clause.expected, one.actual) == ("type", "int", "bigint")
    assert violations_of([contract], observed(seen(0, fields={"id": "smallint"})), day(1)) == []


def test_nulls_and_duplicates() -> None:
    contract = in_force(
        columns=[{"name": "id", "primaryKey": True}],
        rules=[{"metric": "rowCount", "operator": "mustBeGreaterThan", "values": [99]}],
    )
    given = observed(
        seen(
            0,
            fields={"id": "int"},
            rows=100.0,
            null_shares={"id": 0.1},
            distinct_counts={"id": 80.0},
        )
    )
    found = violations_of([contract], given, day(1))
    assert [(one.clause.kind, one.actual) for one in found] == [
        ("required", "10.00% nulls"),
        ("unique", "10 duplicates"),
    ]
    few = observed(seen(0, fields={"id": "int"}, rows=99.0))
    [one] = violations_of([contract], few, day(1))
    assert (one.clause.expected, one.actual) == ("rowCount mustBeGreaterThan 99", "99")


def test_a_breach_from_before_the_contract_counts_from_its_beginning() -> None:
    contract = in_force(begin=2, columns=COLUMNS)
    given = observed(seen(0, fields={"id": "bigint"}))
    [one] = violations_of([contract], given, day(3))
    assert (one.since, one.begun_by) == (day(2), "artifact:db:orders:0")
    assert violations_of([contract], given, day(1)) == []
    healed = observed(*given.observations, seen(1, fields={"id": "bigint", "mail": "string"}))
    assert violations_of([contract], healed, day(3)) == []


def test_a_breach_ends_with_the_version_of_the_contract() -> None:
    old = in_force(begin=0, end=3, columns=COLUMNS)
    new = in_force(begin=3, version="2.0.0", columns=COLUMNS[:1])
    given = observed(seen(1, fields={"id": "bigint"}))
    [one] = violations_of([old, new], given, day(9))
    assert (one.version, one.ended_at) == ("1.0.0", day(3))
    assert one.ended_by == "another version of the contract took effect"


def test_late_data() -> None:
    level = {"property": "freshness", "value": 24, "unit": "h"}
    contract = in_force(serviceLevels=[level])
    given = observed(seen(0), seen(1), seen(3))
    found = violations_of([contract], given, day(5))
    assert [(one.since, one.ended_at, one.ended_by) for one in found] == [
        (day(2), day(3), "artifact:db:orders:3"),
        (day(4), None, None),
    ]
    assert assess(contract, given, day(3.5)).state is State.KEPT
    assert assess(contract, given, day(5)).clauses[0].outcome.actual == "2 days, 0:00:00 old"


def test_drafts_and_retired_contracts_promise_nothing() -> None:
    given = observed(seen(0, fields={}))
    for status in ("draft", "Proposed", "retired"):
        assert violations_of([in_force(status=status, columns=COLUMNS)], given, day(1)) == []
    assert violations_of([in_force(end=-1, columns=COLUMNS)], given, day(1)) == []
    assert len(violations_of([in_force(status=None, columns=COLUMNS)], given, day(1))) == 2


def test_unknown_without_facts() -> None:
    contract = in_force(columns=COLUMNS)
    assert assess(contract, observed(), day(1)).state is State.UNKNOWN
    assert assess(contract, observed(seen(0)), day(1)).state is State.UNKNOWN
    assert assess(in_force(), observed(seen(0)), day(1)).state is State.UNKNOWN
    # Flags of columns need no measures.
    kept = observed(seen(0, fields={"id": "bigint", "mail": "string"}))
    assert assess(contract, kept, day(1)).state is State.KEPT
    rule = {"name": "paid_before_shipped"}
    assert assess(in_force(rules=[rule]), kept, day(1)).state is State.UNKNOWN


def test_the_order_of_contracts_changes_nothing() -> None:
    some = [in_force(columns=COLUMNS), in_force(contractId="other", columns=COLUMNS[1:])]
    given = observed(seen(1, fields={}))
    for order in itertools.permutations(some):
        found = violations_of(order, given, day(2))
        assert [(one.contract_id, one.clause.column) for one in found] == [
            ("orders", "id"),
            ("orders", "mail"),
            ("other", "mail"),
        ]


def test_a_clause_says_since_when_it_is_kept_or_broken() -> None:
    contract = in_force(begin=0.5, columns=COLUMNS)
    given = observed(
        seen(0, fields={"id": "bigint", "mail": "string"}),
        seen(1, fields={"id": "bigint"}),
        seen(2),
        seen(3, fields={"id": "bigint"}),
        seen(4, fields={"id": "bigint", "mail": "string"}),
        seen(5, fields={"id": "bigint", "mail": "string"}),
    )

    def since(number: float) -> dict[tuple[str, str], object]:
        states = assess(contract, given, day(number)).clauses
        return {(one.clause.kind, one.clause.column): one.since for one in states}

    expected = {("column", "id"): day(0.5), ("type", "id"): day(0.5), ("required", "id"): None}
    assert since(3.5) == {**expected, ("column", "mail"): day(1)}
    assert since(5.5) == {**expected, ("column", "mail"): day(4)}
    assert since(-1) == dict.fromkeys([*expected, ("column", "mail")])


def test_freshness_says_since_when_data_came_in_time_or_is_late() -> None:
    level = {"property": "freshness", "value": 1, "unit": "d"}
    contract = in_force(serviceLevels=[level])
    given = observed(seen(0), seen(0.5), seen(3), seen(3.5), seen(4))

    def state(number: float) -> tuple[object, object]:
        [one] = assess(contract, given, day(number)).clauses
        return one.outcome.kept, one.since

    assert state(1) == (True, day(0))
    assert state(2) == (False, day(1.5))
    assert state(4.5) == (True, day(3))
    assert state(6) == (False, day(5))
