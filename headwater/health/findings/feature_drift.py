"""Rule `feature-drift`: what a model reads at inference left the data of its training.

A run that reads the model and other data, and reports measures of that data, is an inference. Its
measures are compared with those of the training of the model version that it read: the mean, the
share of nulls and the number of distinct values of each feature. A spell begins with the first run
outside the bounds and ends with the next run within, also after a new training.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from headwater.cypher.driver.database import Row
from headwater.health.findings.datasets.spells import Spell, episodes_of
from headwater.health.findings.models import Episode
from headwater.lineage.questions.feature_drift import (
    REPORTS_MAX,
    MeasuredData,
    find_drift,
    read_measures,
    training_baseline,
)
from headwater.lineage.questions.measure_changes import MeasureChange, Measures, measures_in
from headwater.lineage.view import GraphView

RULE = "feature-drift"
_DATASET = "dataset:"
_DIGITS = 6
VERSIONS_MAX = 20

Baseline = Mapping[tuple[str, str], Sequence[float]]


@dataclass(frozen=True)
class Trained:
    """A version of a model, with the measures of its training data."""

    urn: str
    at: datetime
    baseline: Baseline


@dataclass(frozen=True)
class Inference:
    """What a run that used a model reported of other data that it read.

    versions: the versions of the model that it read.
    """

    at: datetime
    run: str
    dataset: str
    versions: tuple[str, ...]
    measures: Measures


def feature_drift_episodes(view: GraphView, urns: Sequence[str]) -> dict[str, list[Episode]]:
    """Return the episodes of the models among these nodes, by node."""
    wanted = [urn for urn in urns if urn.startswith(_DATASET)]
    rows = _read_used(view, wanted) if wanted else []
    used = [row for row in rows if row["reports"]]
    versions = chain.from_iterable(row["versions"] for row in used)
    inputs = chain.from_iterable(version["inputs"] for version in versions)
    datasets = {dataset for dataset, _ in inputs}
    reports = read_measures(view, datasets)
    return {row["urn"]: list(_episodes(row, reports)) for row in used}


def _read_used(view: GraphView, urns: Sequence[str]) -> list[Row]:
    return view.read("read/models/inference", urns=urns, versions=VERSIONS_MAX, limit=REPORTS_MAX)


def _episodes(row: Row, reports: Mapping[str, Sequence[MeasuredData]]) -> Iterator[Episode]:
    versions = [_trained(one, reports) for one in row["versions"]]
    inferences = [
        Inference(
            one["at"],
            one["run"],
            one["dataset"],
            tuple(sorted(one["versions"])),
            measures_in(one["metrics"]),
        )
        for one in row["reports"]
    ]
    return detect_feature_drift(row["urn"], versions, inferences)


def _trained(row: Row, reports: Mapping[str, Sequence[MeasuredData]]) -> Trained:
    features = [name for name, _ in json.loads(row["fields"] or "[]")]
    inputs = [(dataset, version) for dataset, version in row["inputs"]]
    return Trained(row["urn"], row["at"], training_baseline(inputs, reports, features))


def detect_feature_drift(
    model: str, versions: Sequence[Trained], inferences: Sequence[Inference]
) -> Iterator[Episode]:
    """Yield the episodes in which inference left the training data. Pure."""
    known = {one.urn: one for one in versions}
    of_dataset: dict[str, list[Inference]] = defaultdict(list)
    for one in inferences:
        of_dataset[one.dataset].append(one)
    spells: list[Spell] = []
    for _, some in sorted(of_dataset.items()):
        spells += _spells(sorted(some, key=lambda one: (one.at, one.run)), known)
    yield from episodes_of(RULE, model, spells, "features")


def _spells(inferences: Sequence[Inference], versions: Mapping[str, Trained]) -> list[Spell]:
    """Return the spells of one dataset, whose runs are in order of time."""
    is_open: dict[tuple[str, str], Spell] = {}
    found: list[Spell] = []
    for one in inferences:
        used = [versions[urn] for urn in one.versions if urn in versions]
        if not used:
            continue
        trained = max(used, key=lambda each: (each.at, each.urn))
        compared = trained.baseline.keys() & one.measures.keys()
        drifted = {
            (change.column, change.measure): change
            for change in find_drift(trained.baseline, one.measures)
        }
        for key in sorted(compared):
            change, spell = drifted.get(key), is_open.get(key)
            if change is not None:
                is_open[key] = (
                    replace(spell, last_seen=one.at) if spell else _spell(one, trained, change)
                )
            elif spell is not None:
                found.append(replace(spell, resolved_at=one.at, resolved_by=one.run))
                del is_open[key]
    return [*found, *is_open.values()]


def _spell(one: Inference, trained: Trained, change: MeasureChange) -> Spell:
    evidence = {
        "feature": change.column,
        "measure": change.measure,
        "value": round(change.value, _DIGITS),
        "training": round(change.mean, _DIGITS),
        "deviation": None if change.deviation is None else round(change.deviation, _DIGITS),
        "share": None if change.share is None else round(change.share, _DIGITS),
        "compared": change.version_count,
        "dataset": one.dataset,
        "model": trained.urn,
    }
    item = (one.dataset, change.column, change.measure)
    return Spell(one.run, item, one.at, one.at, evidence)
