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
from headwater.schema.edits import NodeApproval, read_approvals

_PREFIX = "declassification"


def declassification_policy(classification: str, column: str | None = None) -> str:
    """Return the policy under which a class is approved for a dataset or one of its columns."""
    words = [_PREFIX, canonical_class(classification)]
    return ":".join(words if column is None else [*words, column])


def active_declassifications(
    dataset: str, approvals: str | None, today: date
) -> dict[str, dict[str, NodeApproval]]:
    """Return the approvals that count on a day, by the urn of the dataset or column and by class.

    approvals: the property `approvals` of the dataset.
    """
    found: dict[str, dict[str, NodeApproval]] = defaultdict(dict)
    for one in read_approvals(approvals):
        prefix, _, rest = one.policy.partition(":")
        if prefix == _PREFIX and rest and one.is_active(today):
            classification, _, column = rest.partition(":")
            found[_urn(dataset, column)][classification] = one
    return dict(found)


def _urn(dataset: str, column: str) -> str:
    if not column:
        return dataset
    return f"column:{dataset.removeprefix('dataset:')}:{quote(column, safe='/')}"
