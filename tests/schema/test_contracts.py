"""Versions of contracts: which is in force when, and the tags of their columns."""

from __future__ import annotations

import itertools

from headwater.schema.contracts import contract_tags, contract_versions, version_key
from headwater.schema.facts import LwwRegister
from tests.governance.contracts.contracts import day, micros, register, registers


def test_a_newer_version_ends_the_one_before() -> None:
    some = [
        register(day(0), version="1.9.0"),
        register(day(3), version="1.10.0"),
        register(day(5), version="2.0.0-rc1", status="draft"),
    ]
    for order in itertools.permutations(some):
        found = contract_versions(registers(*order))
        assert [(one.facet.version, one.begin, one.end) for one in found] == [
            ("1.9.0", micros(day(0)), micros(day(3))),
            ("1.10.0", micros(day(3)), None),
            ("2.0.0-rc1", micros(day(5)), None),
        ]
        assert [one.is_binding for one in found] == [True, True, False]


def test_an_older_version_that_is_imported_later_is_never_in_force() -> None:
    given = registers(register(day(9), version="1"), register(day(3), version="2"))
    old, new = contract_versions(given)
    assert (old.is_binding, new.is_binding) == (False, True)


def test_a_contract_may_name_its_beginning() -> None:
    [one] = contract_versions(registers(register(day(9), effectiveFrom="2026-01-06T06:00:00Z")))
    assert one.begin == micros(day(1))
    [one] = contract_versions(registers(register(day(9), effectiveFrom="soon")))
    assert one.begin == micros(day(9))


def test_a_retired_version_ends_a_contract() -> None:
    given = registers(register(day(0)), register(day(4), version="1.1", status="retired"))
    old, retired = contract_versions(given)
    assert (old.end, retired.is_binding) == (micros(day(4)), False)


def test_broken_facets_are_no_contracts() -> None:
    broken = ["", "{}", "[]", '{"contractId":"","version":"1"}', '{"contractId":7,"version":"1"}']
    assert contract_versions(registers(*(LwwRegister(1, 0, text) for text in broken))) == []
    readable = LwwRegister(
        1, 0, '{"contractId":"a","version":2,"columns":[{"name":3},{"name":"b"}]}'
    )
    [one] = contract_versions(registers(readable))
    assert (one.facet.version, [column.name for column in one.facet.columns or ()]) == ("2", ["b"])


def test_versions_are_ordered_by_their_numbers() -> None:
    ordered = ["", "draft", "1.0.0-rc1", "v1.0.0", "1.0.1", "1.9", "1.10", "2.0.0-1", "2.0.0"]
    assert max(ordered, key=version_key) == "2.0.0"
    assert sorted(set(ordered), key=version_key) == ordered


def test_classified_columns_have_tags() -> None:
    old = register(day(0), columns=[{"name": "mail", "classification": "public"}])
    columns = [{"name": "mail", "classification": "restricted"}, {"name": "id"}]
    new = register(day(1), version="2", columns=columns)
    [tag] = contract_tags(registers(old, new))
    assert (tag.key, tag.value, tag.field) == ("classification", "restricted", "mail")
    assert contract_tags({}) == []
    assert contract_tags(registers(register(day(1), status="draft", columns=columns))) == []
