"""Changes of findings in the schema, as a subscription delivers them."""

from __future__ import annotations

import strawberry

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.types.enums import FindingChangeKind, Tier
from headwater.graphql.types.lineage_node import Finding
from headwater.graphql.types.scalars import ID
from headwater.health.findings.listing import subject_of
from headwater.schema.urns import KINDS, parse_urn


@strawberry.type(description="A change of a finding.")
class FindingChange:
    id: ID = strawberry.field(description="The id of the finding.")
    change: FindingChangeKind = strawberry.field(description="What happened to it.")
    finding: Finding | None = strawberry.field(
        description="The finding as it is now; null if it was withdrawn."
    )

    @classmethod
    async def of(cls, info: Info, state: Row) -> FindingChange | None:
        """Return the change of a finding; None if the key may not see it."""
        found = await info.context.finding.load(state["urn"])
        if found is None:
            visible = await _is_visible(info, state["subject"])
            kind = FindingChangeKind.WITHDRAWN
            return cls(id=state["urn"], change=kind, finding=None) if visible else None
        kind = FindingChangeKind(state["change"] if found.is_open else "RESOLVED")
        return cls(id=found.id, change=kind, finding=Finding.of(found))

    def matches(self, rule: str, tier: Tier | None, namespace: str | None) -> bool:
        """Return True if the change meets the conditions; a withdrawn finding has no severity."""
        found_rule = self.id.split(":", 2)[1]
        of_namespace = parse_urn(subject_of(self.id)).parts[:1] if namespace else ()
        return (
            rule in ("", found_rule)
            and (tier is None or self.finding is None or self.finding.severity is tier)
            and (not namespace or of_namespace == (namespace,))
        )


async def _is_visible(info: Info, subject: str) -> bool:
    """Return True if the key may see a node; a producer needs a key that sees everything."""
    if subject.partition(":")[0] in KINDS:
        return bool(await info.context.visible_urns([subject]))
    return info.context.view.visibility.is_unrestricted
