"""How urgent a finding is: from the kind of harm of its rule, and from whom it affects.

| impact of the rule | reaches an answer, or a certified or critical node or a model | otherwise |
|---|---|---|
| outage, legal | P1 | P2 |
| drift | P2; `schema-drift` that reaches a certified or critical node or a model: P1 | P2 |
| metadata | P3 | P3 |

A violated policy has the severity of the policy. A broken contract is P1 if its evidence names an
urgent service level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headwater.health.findings.models import Affected, Impact, Tier
from headwater.health.findings.rules import RULES
from headwater.schema.tags import CRITICAL_TAGS

CERTIFIED_TAGS = ("certified", "certified=true")
_IMPORTANT_TAGS = frozenset((*CRITICAL_TAGS, *CERTIFIED_TAGS))
_MODEL = "model"
_BREAKING_DRIFT = "schema-drift"
_POLICY_VIOLATION, _CONTRACT_VIOLATION = "policy-violation", "contract-violation"


def is_critical(tags: Iterable[str], type: str | None) -> bool:
    """Return True for a node that is certified, of a critical tier, or a model."""
    return (type or "").lower() == _MODEL or any(tag.lower() in _IMPORTANT_TAGS for tag in tags)


def own_tier(rule: str, evidence: Mapping[str, Any]) -> Tier | None:
    """Return the tier that the evidence of a finding sets, whomever it affects; None without it."""
    if rule == _POLICY_VIOLATION:
        return Tier(evidence["severity"])
    return Tier.P1 if rule == _CONTRACT_VIOLATION and evidence.get("serviceLevel") else None


def tier_of(rule: str, affected: Affected, *, is_subject_critical: bool = False) -> Tier:
    """Return the tier of a finding.

    `is_subject_critical`: the node itself is an answer, certified, of a critical tier, or a model.
    """
    impact = RULES[rule].impact
    if impact is Impact.METADATA:
        return Tier.P3
    reaches_critical = affected.critical > 0 or is_subject_critical
    if impact is Impact.DRIFT:
        return Tier.P1 if rule == _BREAKING_DRIFT and affected.critical else Tier.P2
    return Tier.P1 if reaches_critical or affected.answers else Tier.P2
