"""Dataset events: what is said of a dataset without a job or a run. Answers, too, come as such."""

from __future__ import annotations

import msgspec

from headwater.ingest.fold.accumulator import (
    Said,
    add_assertion,
    is_named,
    json_of,
    renamed_from,
)
from headwater.ingest.fold.datasets import DECLARED, column_flows, dataset_facts
from headwater.ingest.fold.facet_readings import Reading, read_dataset
from headwater.ingest.fold.lineage_facets import lineage_deleted
from headwater.ingest.fold.registers import canonical
from headwater.schema import facts
from headwater.schema import headwater_facets as native
from headwater.schema.events import Dataset, Facets
from headwater.schema.facets import salvage
from headwater.schema.facets.headwater import ArtifactFacet, SymlinksFacet, read_citations
from headwater.schema.facts import AnswerFacts, DatasetFacts, JobFacts, Name, RunFacts, Usage
from headwater.schema.urns import answer_urn, canonical_run_id


def dataset_event(said: Said, dataset: Dataset) -> None:
    facets = dataset.facets or Facets()
    answer = facets.get(native.ANSWER_FACET)
    if answer is not None:
        _answer(said, dataset, answer)
        return
    name = said.name(dataset)
    reading = read_dataset(dataset.facets)
    about = dataset_facts(said, name, reading)
    _declared_origin(said, about, reading, facets)
    _decided_by_hand(said, about, facets)
    urn = said.dataset(about)
    sent = facets.get(native.ARTIFACT_FACET)
    made = salvage(ArtifactFacet, sent) if sent is not None else None
    if made is not None and made.run_id.strip():
        texts = canonical({native.ARTIFACT_FACET: facets[native.ARTIFACT_FACET]})
        said.run(
            RunFacts(
                canonical_run_id(made.run_id), outputs={urn: Usage(name, said.registers(texts))}
            )
        )


def _declared_origin(said: Said, about: DatasetFacts, reading: Reading, facets: Facets) -> None:
    """What a dataset comes from, said without a run: by lineage, by column lineage, or because it was renamed."""
    lineage, by_columns = reading.lineage, reading.columns
    came_from = column_flows(said, about.dataset, by_columns, None)
    if lineage is not None:
        came_from = column_flows(said, about.dataset, lineage, None, known_by=DECLARED)
    old = renamed_from(said, about.dataset, reading.lifecycle)
    if old is not None:
        # Kept whatever is declared later: a table was renamed once and for all.
        add_assertion(about.sources, f"renamed:{said.mention(old)}", said.assertion(old))
    for name in came_from - {about.dataset}:
        add_assertion(about.sources, said.mention(name), said.assertion(name))
    for source in lineage.jobs() if lineage else ():
        if source.name:
            job = Name(source.namespace, source.name)
            add_assertion(about.sources, said.job(JobFacts(job)), said.assertion(job))
    if lineage is not None or by_columns is not None or lineage_deleted(facets):
        about.declared = said.register(json_of(sorted(about.sources)))


def _decided_by_hand(said: Said, about: DatasetFacts, facets: Facets) -> None:
    """That two names are one dataset, or are not, whatever symlinks say."""
    sent = facets.get(native.SYMLINKS_FACET)
    decided = salvage(SymlinksFacet, sent) if sent is not None else None
    if decided is None:
        return
    for verdict, others in (("same", decided.same), ("apart", decided.apart)):
        for other in others or ():
            if is_named(other):
                about.by_hand[said.mention(said.name(other))] = said.register(verdict)


def _answer(said: Said, dataset: Dataset, facet: msgspec.Raw) -> None:
    text = canonical({native.ANSWER_FACET: facet}).get(native.ANSWER_FACET)
    if text is None:
        return
    answers = [AnswerFacts(dataset.name, said.register(text))]
    for citation in read_citations(text):
        if citation.answer_id:
            answers.append(AnswerFacts(citation.answer_id))
        else:
            said.mention(said.name(citation))
    for answer in answers:
        facts.add(said.delta.answers, answer_urn(answer.answer_id), answer, facts.join_answers)
