"""Fold dataset events: facts of a dataset without a run. Answers are dataset events, too."""

from __future__ import annotations

import msgspec

from headwater.ingest.fold.accumulator import (
    DeltaAccumulator,
    add_assertion,
    is_named,
    renamed_from,
)
from headwater.ingest.fold.canonical_facets import canonical_texts
from headwater.ingest.fold.datasets import add_declared_sources, dataset_facts
from headwater.ingest.fold.edits import (
    add_contracts,
    add_edits,
    add_tag_definition,
    alias_recorder,
    is_edit,
)
from headwater.ingest.fold.facet_readings import DatasetReading, read_dataset
from headwater.schema import facts
from headwater.schema import headwater_facets as native
from headwater.schema.dataset_aliases import APART, SAME
from headwater.schema.edits import ALIAS
from headwater.schema.events import Dataset, Facets, parse_instant_or_none
from headwater.schema.facets import salvage
from headwater.schema.facets.dataset import DataQualityMetrics
from headwater.schema.facets.headwater import (
    ArtifactFacet,
    SourceFacet,
    SymlinksFacet,
    read_answer,
    read_citations,
)
from headwater.schema.facts import AnswerFacts, DatasetFacts, RunFacts, Usage
from headwater.schema.urns import answer_urn, reported_run_id

_METRICS = "dataQualityMetrics"


def fold_dataset_event(accumulator: DeltaAccumulator, dataset: Dataset) -> None:
    """Fold a dataset event."""
    facets = dataset.facets or Facets()
    answer = facets.get(native.ANSWER_FACET)
    if answer is not None:
        _fold_answer(accumulator, dataset, answer)
        return
    if native.TAG_FACET in facets:
        add_tag_definition(accumulator, facets, dataset.name)
        return
    name = accumulator.normalise(dataset)
    if is_edit(facets):
        edited = DatasetFacts(name)
        add_edits(accumulator, edited, facets)
        add_contracts(accumulator, edited, facets)
        accumulator.add_dataset(edited)
        return
    reading = read_dataset(dataset.facets)
    described = dataset_facts(accumulator, name, reading)
    _add_former_name(accumulator, described, reading)
    add_declared_sources(accumulator, described, reading)
    _add_alias_decisions(accumulator, described, facets)
    add_edits(accumulator, described, facets)
    _add_captures(described, facets)
    urn = accumulator.add_dataset(described)
    facet = facets.get(native.ARTIFACT_FACET)
    artifact = salvage(ArtifactFacet, facet) if facet is not None else None
    if artifact is not None and artifact.run_id.strip():
        texts = canonical_texts({native.ARTIFACT_FACET: facets[native.ARTIFACT_FACET]})
        accumulator.add_other_run(
            RunFacts(
                reported_run_id(artifact.run_id),
                outputs={urn: Usage(name, accumulator.registers(texts))},
            ),
            None,
        )


def _add_captures(described: DatasetFacts, facets: Facets) -> None:
    """Add when the data was captured, as a registered source, or updated, by its measures."""
    texts = []
    if native.SOURCE_FACET in facets:
        source = salvage(SourceFacet, facets[native.SOURCE_FACET])
        texts.append(source.captured_at if source else None)
    if _METRICS in facets:
        metrics = salvage(DataQualityMetrics, facets[_METRICS])
        texts.append(metrics.last_updated if metrics else None)
    instants = map(parse_instant_or_none, texts)
    described.captures = {instant for instant in instants if instant is not None}


def _add_former_name(
    accumulator: DeltaAccumulator, described: DatasetFacts, reading: DatasetReading
) -> None:
    """Add the former name of a renamed dataset. Later declarations do not replace a rename."""
    old = renamed_from(accumulator, described.dataset, reading.lifecycle)
    if old is not None:
        key = f"renamed:{accumulator.ensure_dataset(old)}"
        add_assertion(described.sources, key, accumulator.assertion(old))


def _add_alias_decisions(
    accumulator: DeltaAccumulator, described: DatasetFacts, facets: Facets
) -> None:
    """Add the decisions of a steward on aliases, which override symlinks."""
    facet = facets.get(native.SYMLINKS_FACET)
    decisions = salvage(SymlinksFacet, facet) if facet is not None else None
    if decisions is None:
        return
    recorder = alias_recorder(accumulator, described, facets)
    for verdict, others in ((SAME, decisions.same), (APART, decisions.apart)):
        for other in others or ():
            if is_named(other):
                urn = accumulator.ensure_dataset(accumulator.normalise(other))
                described.by_hand[urn] = accumulator.register(verdict)
                recorder.record(f"{ALIAS}{urn}", verdict)


def _fold_answer(accumulator: DeltaAccumulator, dataset: Dataset, facet: msgspec.Raw) -> None:
    text = canonical_texts({native.ANSWER_FACET: facet}).get(native.ANSWER_FACET)
    if text is None:
        return
    instants: set[int] = set()
    if text:
        generated = parse_instant_or_none(read_answer(text).generated_at)
        instants.add(accumulator.last if generated is None else generated)
    answers = [AnswerFacts(dataset.name, accumulator.register(text), instants)]
    for citation in read_citations(text):
        if citation.answer_id:
            answers.append(AnswerFacts(citation.answer_id))
        else:
            accumulator.ensure_dataset(accumulator.normalise(citation))
    for answer in answers:
        facts.add(
            accumulator.delta.answers, answer_urn(answer.answer_id), answer, facts.join_answers
        )
