"""Count questions by their outcome, for the service level of successful queries.

GraphQL answers a failed query with status 200, so its errors decide: a code of `FAILURES` is the
fault of the server, every other one is the mistake of the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from headwater.access.principal import Scope
from headwater.access.rules import ROUTES
from headwater.health import metrics

GRAPHQL = frozenset({"/graphql", "/graphql/"})
# The codes of GraphQL errors that the caller did not cause (headwater/graphql/errors.py).
FAILURES = frozenset({"INTERNAL", "UNAVAILABLE", "TIMEOUT"})
# Read by monitoring, and no question about lineage.
_MONITORING = frozenset({"/metrics"})


class Outcome(StrEnum):
    """What became of a question; those that the caller got wrong are `refused`."""

    ANSWERED = "answered"
    FAILED = "failed"
    REFUSED = "refused"


# Each outcome has a series from the start, so that a rate sees the first failure.
_SERIES = {outcome: metrics.questions.labels(outcome.value) for outcome in Outcome}


def outcome_of_status(status: int) -> Outcome:
    """Return the outcome of an HTTP answer."""
    if status >= 500:
        return Outcome.FAILED
    return Outcome.REFUSED if status >= 400 else Outcome.ANSWERED


def outcome_of_errors(extensions: Iterable[Mapping[str, Any] | None]) -> Outcome:
    """Return the outcome of a GraphQL answer, from the extensions of its errors."""
    codes = [(one or {}).get("code", "INTERNAL") for one in extensions]
    if FAILURES.intersection(codes):
        return Outcome.FAILED
    return Outcome.REFUSED if codes else Outcome.ANSWERED


def observe_response(method: str, path: str, status: int) -> None:
    """Count a request, if it is a question whose outcome its status shows."""
    if path in GRAPHQL:
        # An executed query has status 200, and was counted by its errors.
        is_question = status >= 400
    else:
        scope = ROUTES.get(path, {}).get(method)
        is_question = scope in (Scope.READ, Scope.CYPHER) and path not in _MONITORING
    if is_question:
        observe(outcome_of_status(status))


def observe(outcome: Outcome) -> None:
    """Count one question."""
    _SERIES[outcome].inc()
