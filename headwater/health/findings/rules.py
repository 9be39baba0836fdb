"""The rules of the findings, from `rules.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from headwater.health.findings.models import Impact


@dataclass(frozen=True)
class Rule:
    """A rule: its name, what it says in a few words, and how alerts treat it.

    subject: the kind of node: dataset, job, answer or producer.
    wait_seconds: how long a finding must last before anybody is alerted.
    causes: the rules that may explain a finding of this rule, on the same node or upstream.
    """

    name: str
    title: str
    subject: str
    impact: Impact
    wait_seconds: int
    causes: frozenset[str]


def _load() -> Mapping[str, Rule]:
    content = files("headwater.health.findings").joinpath("rules.toml").read_text()
    rules = [_rule(row) for row in tomllib.loads(content)["rule"]]
    return MappingProxyType({rule.name: rule for rule in rules})


def _rule(row: Mapping[str, Any]) -> Rule:
    return Rule(
        name=row["name"],
        title=row["title"],
        subject=row["subject"],
        impact=Impact(row["impact"]),
        wait_seconds=row["wait"],
        causes=frozenset(row["causes"]),
    )


RULES = _load()
