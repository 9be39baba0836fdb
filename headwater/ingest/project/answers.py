"""Project answers: their properties and citations."""

from __future__ import annotations

import msgspec

from headwater.ingest.project.values import Names, Properties, canonical_name, parse_time, time_at
from headwater.schema.facets.headwater import AnswerFacet, read_answer, read_citations
from headwater.schema.facets.headwater import Citation as CitationFacet
from headwater.schema.facts import AnswerFacts, Name
from headwater.schema.facts_codec import pack
from headwater.schema.naming import Naming
from headwater.schema.urns import (
    answer_urn,
    artifact_urn,
    canonical_run_id,
    column_urn,
    dataset_urn,
    display_name,
)


class Citation(msgspec.Struct, frozen=True):
    """A citation: a dataset, one of its versions (`pinned`), one of its columns, or an answer.

    `pinned_run` is the id of the run that made the version.
    """

    dataset: str = ""
    name: Name = Name("", "")
    pinned: str | None = None
    pinned_run: str | None = None
    column: str | None = None
    field: str | None = None
    answer: str | None = None


class AnswerView(msgspec.Struct):
    node: Properties
    citations: list[Citation]


def answer_view(facts: AnswerFacts, naming: Naming, names: Names) -> AnswerView:
    """Return an answer and its citations.

    An answer that is only referred to, or was deleted, has no properties but its id.
    """
    text = facts.answer.value if facts.answer else ""
    answer = read_answer(text) if text else AnswerFacet()
    generated = parse_time(answer.generated_at) or (
        time_at(facts.answer.instant) if facts.answer and text else None
    )
    node = {
        "answerId": display_name(facts.answer_id),
        "name": display_name(facts.answer_id) if text else None,
        "type": answer.type,
        "content": answer.content,
        "generatedAt": generated,
        "generatedBy": answer.generated_by,
        "url": answer.url,
        "owners": answer.owners,
        "facts": pack(facts),
    }
    cites = (
        [_citation(citation, naming, names) for citation in read_citations(text)] if text else []
    )
    return AnswerView(node, cites)


def cited_names(facts: AnswerFacts, naming: Naming) -> list[Name]:
    """Return the datasets that an answer cites, before aliases are resolved."""
    cites = read_citations(facts.answer.value) if facts.answer and facts.answer.value else []
    return [naming.normalise(cite.namespace, cite.name) for cite in cites if not cite.answer_id]


def _citation(citation: CitationFacet, naming: Naming, names: Names) -> Citation:
    if citation.answer_id:
        return Citation(answer=answer_urn(citation.answer_id))
    name = canonical_name(naming.normalise(citation.namespace, citation.name), names)
    namespace = name.namespace
    return Citation(
        dataset=dataset_urn(namespace, name.name),
        name=name,
        field=citation.field,
        pinned=artifact_urn(namespace, name.name, citation.run_id) if citation.run_id else None,
        pinned_run=canonical_run_id(citation.run_id) if citation.run_id else None,
        column=column_urn(namespace, name.name, citation.field) if citation.field else None,
    )
