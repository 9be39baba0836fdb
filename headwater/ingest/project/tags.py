"""Project the definitions of tags to the properties of their nodes."""

from __future__ import annotations

from headwater.ingest.project.values import Properties
from headwater.schema.facets import salvage
from headwater.schema.facets.headwater import TagFacet
from headwater.schema.facts import TagFacts
from headwater.schema.facts_codec import pack
from headwater.schema.urns import display_name


def tag_properties(facts: TagFacts) -> Properties:
    """Return the properties of a tag; a withdrawn definition is not listed."""
    text = facts.definition.value if facts.definition else ""
    definition = salvage(TagFacet, text) if text else None
    return {
        "name": display_name(facts.name),
        "description": definition.description if definition else None,
        "defined": definition is not None,
        "facts": pack(facts),
    }
