"""Headwater's own facets, as `schema.headwater_facets` builds them.

They carry the prefix `headwater_`, as the specification asks of custom facets.
"""

from __future__ import annotations

import msgspec

from headwater.schema.facets.dataset import DatasetTag
from headwater.schema.facets.kinds import Facet, Integer, Part, salvage


class SourceFacet(Facet, frozen=True):
    """`headwater_source`: one capture of a dataset that no known run produced."""

    origin: str | None = None
    format: str | None = None
    row_count: Integer | None = None
    captured_at: str | None = None
    checksum: str | None = None


class ArtifactFacet(Facet, frozen=True):
    """`headwater_artifact`: one version of a dataset, and the run that produced it."""

    run_id: str
    type: str | None = None
    row_count: Integer | None = None
    storage_path: str | None = None
    created_at: str | None = None
    schema: str | None = None


class RunFacet(Facet, frozen=True):
    """`headwater_run`: code version and trigger of a run; `undated` if it was registered without a
    time.
    """

    version: str | None = None
    triggered_by: str | None = None
    undated: bool | None = None


class AssetFacet(Facet, frozen=True):
    """`headwater_asset`: where a registered asset is, as its registration names the place."""

    source_ref: str | None = None


class InventoryFacet(Facet, frozen=True):
    """`headwater_inventory_NAME`: the inventory that lists a dataset."""

    inventory: str = ""


class AliasedName(Part, frozen=True):
    """The name of a dataset in `headwater_symlinks`."""

    namespace: str
    name: str


class SymlinksFacet(Facet, frozen=True):
    """`headwater_symlinks`: names that a steward declared the same dataset, or another one."""

    same: list[AliasedName] | None = None
    apart: list[AliasedName] | None = None


class TagEditsFacet(Facet, frozen=True):
    """`headwater_tags`: tags that a person added to a dataset or a job, or removed from it."""

    added: list[DatasetTag] | None = None
    removed: list[DatasetTag] | None = None


class EditedText(Part, frozen=True):
    """A text that a person set, or withdrew (None); `before` is the text that the person saw."""

    value: str | None = None
    before: str | None = None


class PersonName(Part, frozen=True):
    """The name of an owner, or of the key of an editor."""

    name: str


class EditedOwners(Part, frozen=True):
    """Owners that a person added or removed."""

    added: list[PersonName] | None = None
    removed: list[PersonName] | None = None


class Deprecation(Part, frozen=True):
    """Why nobody should use a dataset or a job, what to use instead, and from when on."""

    reason: str
    replacement_urn: str | None = None
    until: str | None = None


class EditedDeprecation(Part, frozen=True):
    """A deprecation that a person set, or withdrew (None)."""

    value: Deprecation | None = None


class ApprovalTerms(Part, frozen=True):
    """Why a person approved what a policy would block, and the last day it counts."""

    reason: str
    until: str | None = None


class EditedApproval(Part, frozen=True):
    """An approval under one policy that a person gave, or withdrew (None)."""

    policy: str
    value: ApprovalTerms | None = None


class EditsFacet(Facet, frozen=True):
    """`headwater_edits`: what a person decided about a dataset or a job, and who it was."""

    by: PersonName | None = None
    description: EditedText | None = None
    owners: EditedOwners | None = None
    deprecation: EditedDeprecation | None = None
    approval: EditedApproval | None = None


class TagFacet(Facet, frozen=True):
    """`headwater_tag`: the definition of a tag."""

    description: str | None = None


class Citation(Part, frozen=True):
    """One citation as sent: a dataset, a version of it (`run_id`), a column (`field`), or an
    answer.
    """

    namespace: str = ""
    name: str = ""
    run_id: str | None = None
    field: str | None = None
    answer_id: str | None = None


class AnswerFacet(Facet, frozen=True):
    """`headwater_answer`: an answer and its citations."""

    type: str | None = None
    content: str | None = None
    generated_at: str | None = None
    generated_by: str | None = None
    url: str | None = None
    owners: list[str] | None = None
    cites: list[Citation] | None = None


def read_answer(text: str) -> AnswerFacet:
    """Return the readable part of an answer; an empty one for a text that is no facet."""
    return salvage(AnswerFacet, text) or AnswerFacet()


def read_citations(text: str) -> list[Citation]:
    """Return the citations of an answer, each once, in the order given."""
    distinct: dict[Citation, None] = {}
    for citation in read_answer(text).cites or ():
        # A blank text means an absent one.
        citation = msgspec.structs.replace(
            citation,
            run_id=_text(citation.run_id),
            field=_text(citation.field),
            answer_id=_text(citation.answer_id),
        )
        is_dataset = bool(citation.namespace.strip() and citation.name.strip())
        if citation.answer_id or is_dataset:
            distinct[citation] = None
    return list(distinct)


def _text(value: str | None) -> str | None:
    return value if value and value.strip() else None
