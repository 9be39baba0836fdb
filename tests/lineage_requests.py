"""Lineage questions in one call, for tests: the fields of a request as keywords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.lineage.questions import lineage as questions
from headwater.lineage.questions import lineage_table as tables
from headwater.lineage.questions.lineage import Lineage
from headwater.lineage.questions.lineage_table import LineageTable
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView


def request(urn: str | Sequence[str], **options: Any) -> LineageRequest:
    """Return a request that starts from one node, or from several."""
    urns = (urn,) if isinstance(urn, str) else tuple(urn)
    return LineageRequest(urns, **options)


def lineage(view: GraphView, urn: str | Sequence[str], **options: Any) -> Lineage:
    """Return the lineage of one node, or of several."""
    return questions.lineage(view, request(urn, **options))


def answer_from_cache(view: GraphView, urn: str | Sequence[str], **options: Any) -> Lineage | None:
    """Return the lineage of nodes if the cache alone can answer."""
    return questions.answer_from_cache(view, request(urn, **options))


def lineage_table(view: GraphView, urn: str | Sequence[str], **options: Any) -> LineageTable:
    """Return the lineage of nodes as columns."""
    return tables.lineage_table(view, request(urn, **options))
