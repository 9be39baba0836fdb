"""What the graph shows of an answer."""

from __future__ import annotations

import msgspec

from headwater.ingest.project.values import Names, Properties, canonical_name, parse_time, time_at
from headwater.schema.facets.headwater import AnswerFacet, read_answer, read_citations
from headwater.schema.facets.headwater import Citation as CitedAs
from headwater.schema.facts import AnswerFacts, Name
from headwater.schema.facts_codec import pack
from headwater.schema.naming import Naming
from headwater.schema.urns import answer_urn, artifact_urn, column_urn, dataset_urn, display_name


class Citation(msgspec.Struct, frozen=True):
    """One thing an answer cites: a dataset (`dataset`), perhaps one version of it (`pinned`) or one column of it."""

    dataset: str = ""
    name: Name = Name("", "")
    pinned: str | None = None
    column: str | None = None
    field: str | None = None
    answer: str | None = None


class AnswerView(msgspec.Struct):
    node: Properties
    citations: list[Citation]


def answer_view(facts: AnswerFacts, naming: Naming, names: Names) -> AnswerView:
    """An answer and what it cites. One that is only referred to, or was deleted, has no properties but its id."""
    text = facts.answer.value if facts.answer else ""
    said = read_answer(text) if text else AnswerFacet()
    generated = parse_time(said.generated_at) or (
        time_at(facts.answer.instant) if facts.answer and text else None
    )
    node = {
        "answerId": display_name(facts.answer_id),
        "name": display_name(facts.answer_id) if text else None,
        "type": said.type,
        "content": said.content,
        "generatedAt": generated,
        "generatedBy": said.generated_by,
        "facts": pack(facts),
    }
    cites = (
        [_citation(citation, naming, names) for citation in read_citations(text)] if text else []
    )
    return AnswerView(node, cites)


def cited_names(facts: AnswerFacts, naming: Naming) -> list[Name]:
    """The datasets that an answer cites, before anything is known of their other names."""
    cites = read_citations(facts.answer.value) if facts.answer and facts.answer.value else []
    return [naming.normalise(cite.namespace, cite.name) for cite in cites if not cite.answer_id]


def _citation(citation: CitedAs, naming: Naming, names: Names) -> Citation:
    if citation.answer_id:
        return Citation(answer=answer_urn(citation.answer_id))
    name = canonical_name(naming.normalise(citation.namespace, citation.name), names)
    halves = (name.namespace, name.name)
    return Citation(
        dataset=dataset_urn(*halves),
        name=name,
        field=citation.field,
        pinned=artifact_urn(*halves, citation.run_id) if citation.run_id else None,
        column=column_urn(*halves, citation.field) if citation.field else None,
    )
