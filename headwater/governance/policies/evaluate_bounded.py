"""Conditions that callers send, evaluated in processes with bounded time and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any

from headwater.bounded_process import OutOfBoundsError, map_bounded
from headwater.chunks import chunks
from headwater.errors import QueryError
from headwater.governance.policies.conditions import compile_condition
from headwater.governance.policies.evaluate import Pairs
from headwater.governance.policies.models import Outcome, Policy

_CONDITIONS_PER_CALL = 100
# More conditions are rarely in one check, and compiling one again takes a millisecond.
_compiled = lru_cache(maxsize=500)(compile_condition)


def outcomes_in_process(pairs: Pairs) -> list[Outcome]:
    """Return what the conditions of policies give for variables, in order.

    Raises QueryError if they take too much time or memory.
    """
    items = [(policy.source, _needed(policy, values)) for policy, values in pairs]
    outcomes: list[Outcome] = []
    with closing(map_bounded(_evaluate, list(chunks(items, _CONDITIONS_PER_CALL)))) as results:
        for result in results:
            if isinstance(result, OutOfBoundsError):
                raise QueryError(
                    f"the evaluation of the policies {result}",
                    hint="Simplify their conditions, or check fewer nodes.",
                )
            outcomes += result
    return outcomes


def _needed(policy: Policy, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in policy.condition.variables if name in values}


def _evaluate(items: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Outcome]:
    return [_compiled(source).evaluate(values) for source, values in items]
