"""The outcome of questions, by status and by GraphQL errors."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from headwater.health.questions import (
    Outcome,
    observe_response,
    outcome_of_errors,
    outcome_of_status,
)


def count(outcome: Outcome) -> float:
    labels = {"outcome": outcome.value}
    return REGISTRY.get_sample_value("headwater_questions_total", labels) or 0.0


@pytest.mark.parametrize(
    ("codes", "outcome"),
    [
        ([], Outcome.ANSWERED),
        (["BAD_REQUEST", "NOT_FOUND", "FORBIDDEN", "TOO_COSTLY"], Outcome.REFUSED),
        (["BAD_REQUEST", "TIMEOUT"], Outcome.FAILED),
        (["UNAVAILABLE"], Outcome.FAILED),
        (["INTERNAL"], Outcome.FAILED),
    ],
)
def test_the_outcome_of_a_graphql_answer(codes: list[str], outcome: Outcome) -> None:
    assert outcome_of_errors([{"code": code} for code in codes]) is outcome


def test_an_error_without_a_code_is_a_failure() -> None:
    assert outcome_of_errors([None]) is Outcome.FAILED


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Outcome.ANSWERED),
        (304, Outcome.ANSWERED),
        (404, Outcome.REFUSED),
        (503, Outcome.FAILED),
    ],
)
def test_the_outcome_of_a_status(status: int, outcome: Outcome) -> None:
    assert outcome_of_status(status) is outcome


@pytest.mark.parametrize(
    ("method", "path", "status", "outcome"),
    [
        ("GET", "/api/v1/search", 200, Outcome.ANSWERED),
        ("POST", "/cypher", 503, Outcome.FAILED),
        ("GET", "/api/v1/jobs", 400, Outcome.REFUSED),
        # An executed GraphQL query counts by its errors; a refused request by its status.
        ("POST", "/graphql", 200, None),
        ("POST", "/graphql", 413, Outcome.REFUSED),
        # No questions: events, probes, files and monitoring.
        ("POST", "/api/v1/lineage", 503, None),
        ("GET", "/readyz", 503, None),
        ("GET", "/static", 200, None),
        ("GET", "/metrics", 200, None),
        ("GET", "other", 404, None),
    ],
)
def test_which_requests_are_questions(
    method: str, path: str, status: int, outcome: Outcome | None
) -> None:
    before = {one: count(one) for one in Outcome}
    observe_response(method, path, status)
    grown = [one for one in Outcome if count(one) > before[one]]
    assert grown == ([outcome] if outcome else [])
