"""Fold the edits of people: tags added and removed, deletions, and definitions of tags.

An edit stands in a dataset event or a job event. An event with nothing but edits is no observation
of its dataset or job, so the last-seen time stays.
"""

from __future__ import annotations

from headwater.ingest.fold.accumulator import DeltaAccumulator
from headwater.ingest.fold.canonical_facets import canonical_texts
from headwater.schema import facts
from headwater.schema import headwater_facets as native
from headwater.schema.events import Facets
from headwater.schema.facets import is_deleted, salvage
from headwater.schema.facets.headwater import TagEditsFacet
from headwater.schema.facts import DatasetFacts, JobFacts, TagFacts
from headwater.schema.tags import ADDED, REMOVED, tag_key
from headwater.schema.urns import tag_urn


def is_edit(facets: Facets | None) -> bool:
    """Return True if facets hold edits and nothing else."""
    return facets is not None and bool(facets) and facets.keys() <= native.EDIT_FACETS


def add_edits(
    accumulator: DeltaAccumulator, described: DatasetFacts | JobFacts, facets: Facets | None
) -> None:
    """Add the edits in the facets of a dataset or a job to its facts."""
    if not facets or native.EDIT_FACETS.isdisjoint(facets):
        return
    deletion = facets.get(native.DELETION_FACET)
    if deletion is not None and not is_deleted(bytes(deletion)):
        described.deleted = accumulator.last
    raw = facets.get(native.TAG_EDITS_FACET)
    edits = salvage(TagEditsFacet, raw) if raw is not None else None
    if edits is None:
        return
    # A tag that one event adds and removes is removed.
    for verdict, tags in ((ADDED, edits.added), (REMOVED, edits.removed)):
        for tag in tags or ():
            if tag.key.strip():
                described.tag_edits[tag_key(tag)] = accumulator.register(verdict)


def add_tag_definition(accumulator: DeltaAccumulator, facets: Facets, name: str) -> None:
    """Add the definition of a tag."""
    texts = canonical_texts({"definition": facets[native.TAG_FACET]})
    if "definition" in texts and name.strip():
        tag = TagFacts(name, accumulator.register(texts["definition"]))
        facts.add(accumulator.delta.tags, tag_urn(name), tag, facts.join_tags)
