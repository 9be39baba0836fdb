"""Fold what people decide: descriptions, owners, tags, deprecations, approvals, aliases, deletions
and contracts.

An edit stands in a dataset event or a job event. An event with nothing but edits is no observation
of its dataset or job, so the last-seen time stays. The same holds for data contracts.
"""

from __future__ import annotations

import msgspec

from headwater.ingest.fold.accumulator import DeltaAccumulator, canonical_json
from headwater.ingest.fold.canonical_facets import canonical_texts
from headwater.schema import facts
from headwater.schema import headwater_facets as native
from headwater.schema.contracts import FACET_PREFIX as CONTRACT_PREFIX
from headwater.schema.edits import (
    APPROVAL,
    DELETION,
    DEPRECATION,
    DESCRIPTION,
    OWNER,
    TAG,
    Approval,
)
from headwater.schema.events import Facets
from headwater.schema.facets import is_deleted, salvage
from headwater.schema.facets.headwater import EditedApproval, EditsFacet, TagEditsFacet
from headwater.schema.facts import DatasetFacts, Edit, JobFacts, TagFacts
from headwater.schema.tags import ADDED, REMOVED, tag_key
from headwater.schema.urns import tag_urn


def is_edit(facets: Facets | None) -> bool:
    """Return True if facets hold edits or contracts, and nothing else."""
    return (
        facets is not None
        and bool(facets)
        and all(name in native.EDIT_FACETS or name.startswith(CONTRACT_PREFIX) for name in facets)
    )


def add_contracts(
    accumulator: DeltaAccumulator, described: DatasetFacts, facets: Facets | None
) -> None:
    """Add the contracts in an event of edits to the facts of a dataset."""
    found = {name: raw for name, raw in (facets or {}).items() if name.startswith(CONTRACT_PREFIX)}
    if found:
        described.facets = accumulator.registers(canonical_texts(found))


def add_edits(
    accumulator: DeltaAccumulator, described: DatasetFacts | JobFacts, facets: Facets | None
) -> None:
    """Add the edits in the facets of a dataset or a job to its facts, and to their history."""
    if not facets or native.EDIT_FACETS.isdisjoint(facets):
        return
    raw = facets.get(native.EDITS_FACET)
    edits = salvage(EditsFacet, raw) if raw is not None else None
    recorder = Recorder(accumulator, described, edits)
    deletion = facets.get(native.DELETION_FACET)
    if deletion is not None and not is_deleted(bytes(deletion)):
        described.deleted = accumulator.last
        recorder.record(DELETION, "")
    if edits is not None:
        _add_decisions(recorder, edits)
    raw = facets.get(native.TAG_EDITS_FACET)
    tag_edits = salvage(TagEditsFacet, raw) if raw is not None else None
    if tag_edits is None:
        return
    # A tag that one event adds and removes is removed.
    for verdict, tags in ((ADDED, tag_edits.added), (REMOVED, tag_edits.removed)):
        for tag in tags or ():
            if tag.key.strip():
                key = tag_key(tag)
                described.tag_edits[key] = accumulator.register(verdict)
                recorder.record(f"{TAG}{key}", verdict)


class Recorder(msgspec.Struct):
    """The history of one dataset or job, and who edits it now."""

    accumulator: DeltaAccumulator
    described: DatasetFacts | JobFacts
    edits: EditsFacet | None

    def record(self, key: str, value: str, before: str | None = None) -> None:
        """Add one edit to the history."""
        by = self.edits.by.name if self.edits is not None and self.edits.by else ""
        last, rank = self.accumulator.last, self.accumulator.rank
        self.described.history.add(Edit(last, rank, key, value, by, before or ""))

    def decide(self, key: str, value: str, before: str | None = None) -> None:
        """Set a register, and add that to the history."""
        self.described.edits[key] = self.accumulator.register(value)
        self.record(key, value, before)


def alias_recorder(
    accumulator: DeltaAccumulator, described: DatasetFacts, facets: Facets
) -> Recorder:
    """Return the recorder of decisions on aliases."""
    raw = facets.get(native.EDITS_FACET)
    return Recorder(accumulator, described, salvage(EditsFacet, raw) if raw is not None else None)


def _add_decisions(recorder: Recorder, edits: EditsFacet) -> None:
    """Add the description, the deprecation and the owners that a person decided."""
    if edits.description is not None:
        text = edits.description.value
        value = "" if text is None else canonical_json(text)
        recorder.decide(DESCRIPTION, value, edits.description.before)
    if edits.deprecation is not None:
        deprecation = edits.deprecation.value
        recorder.decide(DEPRECATION, "" if deprecation is None else canonical_json(deprecation))
    if edits.approval is not None and edits.approval.policy.strip():
        _add_approval(recorder, edits.approval)
    owners = edits.owners
    if owners is not None:
        for verdict, people in ((ADDED, owners.added), (REMOVED, owners.removed)):
            for person in people or ():
                if person.name.strip():
                    recorder.decide(f"{OWNER}{person.name}", verdict)


def _add_approval(recorder: Recorder, edited: EditedApproval) -> None:
    """Add an approval under one policy; the register names its author."""
    value = ""
    if edited.value is not None:
        edits = recorder.edits
        by = edits.by.name if edits is not None and edits.by else ""
        value = canonical_json(Approval(edited.value.reason, by, edited.value.until))
    recorder.decide(f"{APPROVAL}{edited.policy.strip()}", value)


def add_tag_definition(accumulator: DeltaAccumulator, facets: Facets, name: str) -> None:
    """Add the definition of a tag."""
    texts = canonical_texts({"definition": facets[native.TAG_FACET]})
    if "definition" in texts and name.strip():
        tag = TagFacts(name, accumulator.register(texts["definition"]))
        facts.add(accumulator.delta.tags, tag_urn(name), tag, facts.join_tags)
