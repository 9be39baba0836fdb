"""Tests of the documented variables: each compiles as the type that it has."""

from __future__ import annotations

import pytest

from headwater.governance.policies.conditions import compile_condition
from headwater.governance.policies.variables import VARIABLES

CONDITIONS = {
    "string": "{} == ''",
    "bool": "{}",
    "int": "{} > 0",
    "timestamp": "{} > timestamp('2026-01-01T00:00:00Z')",
    "list(string)": "'' in {}",
    "list(map)": "{}.exists(i, i.urn == '')",
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_has_its_type(name: str) -> None:
    condition = compile_condition(CONDITIONS[VARIABLES[name].type].format(name))
    assert condition.variables == (name,)


def test_a_variable_is_of_the_group_of_its_name() -> None:
    for variable in VARIABLES.values():
        assert variable.group == variable.name.rpartition(".")[0]
