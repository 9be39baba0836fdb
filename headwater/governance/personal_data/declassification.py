"""Declassifications: approvals of a steward that a node holds no personal data of a class. Pure.

A declassification is an approval under the policy `declassification:CLASS`, for the whole dataset,
or `declassification:CLASS:COLUMN`. So it is an event, has an author, a reason and a last day, and
can be withdrawn.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from urllib.parse import quote

from headwater.governance.personal_data.classes import canonical_class
from headwater.schema.edits import read_approvals

_PREFIX = "declassification"


def declassification_policy(classification: str, column: str | None = None) -> str:
    """Return the policy under which a class is approved for a dataset or one of its columns."""
    words = [_PREFIX, canonical_class(classification)]
    return ":".join(words if column is None else [*words, column])


def active_declassifications(
    dataset: str, approvals: str | None, today: date
) -> dict[str, frozenset[str]]:
    """Return the classes that are approved on a day, by the urn of the dataset or the column.

    approvals: the property `approvals` of the dataset.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for one in read_approvals(approvals):
        prefix, _, rest = one.policy.partition(":")
        if prefix == _PREFIX and rest and one.is_active(today):
            classification, _, column = rest.partition(":")
            found[_urn(dataset, column)].add(classification)
    return {urn: frozenset(classes) for urn, classes in found.items()}


def _urn(dataset: str, column: str) -> str:
    if not column:
        return dataset
    return f"column:{dataset.removeprefix('dataset:')}:{quote(column, safe='/')}"
