"""Changes of findings in the schema, as a subscription delivers them."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.types.enums import FindingChangeKind, Tier
from headwater.graphql.types.lineage_node import Finding
from headwater.graphql.types.scalars import ID
from headwater.health.findings.disclosure import nodes_in_id


@strawberry.type(description="A change of a finding.")
class FindingChange:
    id: ID = strawberry.field(description="The id of the finding.")
    change: FindingChangeKind = strawberry.field(description="What happened to it.")
    finding: Finding | None = strawberry.field(
        description="The finding as it is now; null if it was withdrawn."
    )
    namespaces: strawberry.Private[Sequence[str]]

    @classmethod
    async def of(cls, info: Info, state: Row) -> FindingChange | None:
        """Return the change of a finding; None if the key may not see it."""
        found = await info.context.finding.load(state["urn"])
        if found is not None:
            kind = FindingChangeKind(state["change"] if found.is_open else "RESOLVED")
        elif await _is_visible(info, state):
            kind = FindingChangeKind.WITHDRAWN
        else:
            return None
        shown = Finding.of(found) if found else None
        return cls(id=state["urn"], change=kind, finding=shown, namespaces=state["namespaces"])

    def matches(self, rule: str, tier: Tier | None, namespace: str | None) -> bool:
        """Return True if the change meets the conditions; a withdrawn finding has no severity."""
        return (
            rule in ("", self.id.split(":", 2)[1])
            and (tier is None or self.finding is None or self.finding.severity is tier)
            and (not namespace or namespace in self.namespaces)
        )


async def _is_visible(info: Info, state: Row) -> bool:
    """Return True if the key may see a finding that is withdrawn; one of a producer needs a key
    that sees everything."""
    visibility, nodes = info.context.view.visibility, nodes_in_id(state["urn"])
    if visibility.is_unrestricted:
        return True
    if not visibility.includes_all(state["namespaces"]):
        return False
    return len(await info.context.visible_urns(nodes)) == len(nodes)
