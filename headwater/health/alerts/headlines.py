"""The title of an alert: what happened, where, and who is affected."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import unquote

from headwater.errors import QueryError
from headwater.health.alerts.models import Reach
from headwater.lineage.node_names import NodeName, node_name
from headwater.schema.urns import parse_urn

_NAME_CHARACTERS_MAX = 120
_KINDS = (("answers", "answer"), ("datasets", "dataset"), ("jobs", "job"))


def _load() -> Mapping[str, str]:
    content = files("headwater.health.alerts").joinpath("headlines.toml").read_text()
    return MappingProxyType(tomllib.loads(content))


HEADLINES = _load()


def subject_name(urn: str) -> NodeName:
    """Return the name of the subject of a finding, as its urn spells it.

    A producer, and a node whose name is too long for its urn, has no namespace.
    """
    try:
        if parse_urn(urn).parts:
            return node_name(urn, {})
    except QueryError:
        pass
    kind, _, rest = urn.partition(":")
    return NodeName(urn, kind.upper(), None, unquote(rest))


def short_name(urn: str) -> str:
    """Return the name of a node for a sentence; of a long one the end, where names differ."""
    name = subject_name(urn).name
    return name if len(name) <= _NAME_CHARACTERS_MAX else f"…{name[1 - _NAME_CHARACTERS_MAX :]}"


def headline(rule: str, subject: str) -> str:
    """Return what a finding says of its node, for example "orders.daily failed"."""
    return HEADLINES[rule].format(name=short_name(subject))


def reach_text(reach: Reach) -> str:
    """Return how many nodes are affected, for example "2 answers and 1 dataset (1 critical)".

    It is "nobody known" if there are none.
    """
    counts = [(getattr(reach, kind), noun) for kind, noun in _KINDS]
    parts = [f"{count:,} {noun}{'s'[: count != 1]}" for count, noun in counts if count]
    if not parts:
        return "nobody known"
    text = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    critical = f" ({reach.critical:,} critical)" if reach.critical else ""
    return f"{'at least ' if reach.truncated else ''}{text}{critical}"


def title_of(rule: str, subject: str, reach: Reach) -> str:
    """Return the title of the alert whose root is a finding of a rule on a node."""
    return f"{headline(rule, subject)}. Affected: {reach_text(reach)}"
