"""The variables of conditions, from `variables.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True)
class Variable:
    """A variable of conditions.

    type: string, bool, int, timestamp, list(string) or list(map).
    group: what it is about; the facts of a group are read only if a policy needs them.
    """

    name: str
    type: str
    meaning: str
    example: str
    group: str


def _load() -> Mapping[str, Variable]:
    content = files("headwater.governance.policies").joinpath("variables.toml").read_text()
    found = [
        Variable(name, type, meaning, example, group["name"])
        for group in tomllib.loads(content)["group"]
        for name, type, meaning, example in group["variables"]
    ]
    return MappingProxyType({variable.name: variable for variable in found})


VARIABLES = _load()
