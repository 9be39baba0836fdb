"""Trained models: their versions with features and training data, what changed between two of
them, which models use a column, and whether a dataset fits the schema of a model.

The features of a version are the columns of its schema. A feature is traced if the column lineage
of the model leads from it to a column of a source: a dataset that no job makes now. The share of
traced features is the completeness of the features. Datasets that are hidden from the caller are
left out, and a path through them traces nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import read_all_facets, read_nodes, resolve_urn
from headwater.lineage.pagination import Page
from headwater.lineage.questions.feature_drift import (
    find_drift,
    newest_measures,
    read_measures,
    training_baseline,
)
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.questions.measure_changes import MeasureChange
from headwater.lineage.traversal.request import DEPTH_MAX, LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.type_changes import is_narrowing
from headwater.schema.urns import column_urn, dataset_urn, parse_urn

MODELS_MAX = 200
VERSIONS_MAX = 100
# Features whose lineage is traced for one version.
FEATURES_MAX = 500
COLUMNS, DATASETS = "COLUMNS", "DATASETS"
PARAMETER, METRIC, DATA, CODE, FEATURE = "PARAMETER", "METRIC", "DATA", "CODE", "FEATURE"


@dataclass(frozen=True)
class Model:
    """A model with the visible datasets that it was trained on, and the deprecated ones."""

    urn: str
    trained_on: list[str]
    deprecated: list[str]


@dataclass(frozen=True)
class ModelUse:
    """A model that uses a column.

    evidence: COLUMNS if column lineage leads to it; DATASETS if only datasets do, and the model has
    no column lineage that would show whether it uses the column.
    """

    model: Model
    evidence: str


@dataclass(frozen=True)
class Feature:
    """A column of the schema of a version; `sources` are the datasets that it comes from."""

    name: str
    type: str | None
    sources: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TrainingData:
    """A version that the training read; `digest` is the hash of its content, if it was logged."""

    urn: str
    dataset: str
    version: str | None
    digest: str | None


@dataclass(frozen=True)
class ModelVersion:
    """A complete version of a model, as its training reported it.

    feature_completeness: the share of its features that lead to a source; None without features,
    or if it was not computed.
    """

    urn: str
    version: str | None
    created_at: datetime
    run: str | None
    code: str | None
    parameters: dict[str, str]
    metrics: dict[str, str]
    features: list[Feature]
    training_data: list[TrainingData]
    feature_completeness: float | None = None


@dataclass(frozen=True)
class ModelChange:
    """A difference between two versions; `before` or `after` is None for a missing value."""

    kind: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class InputProblem:
    """A feature that a dataset does not have, or has with another type."""

    feature: str
    expected: str | None
    actual: str | None
    reason: str


@dataclass(frozen=True)
class InputCheck:
    """Whether a dataset has the features of a model; None if one of the schemas is unknown.

    drift: the measures of features that are far from those of the training data.
    """

    fits: bool | None
    version: str | None
    reason: str
    problems: list[InputProblem]
    drift: list[MeasureChange] = field(default_factory=list)


def models(
    view: GraphView,
    *,
    urn: str | None = None,
    deprecated_only: bool = False,
    first: int,
    after: str = "",
) -> Page[Model]:
    """Return a page of the models by urn, or the one model `urn`, in one page.

    `after` is the urn of the last entry before the page. Raises NotFoundError for an unknown `urn`.
    """
    rows = view.read(
        "read/models/models",
        urns=None if urn is None else [_resolve_model(view, urn)],
        visible=view.visibility.regexes,
        deprecatedOnly=deprecated_only,
        cursor=after,
        limit=first + 1,
    )
    found = [_model(row) for row in rows]
    shown = found[:first]
    return Page(shown, [one.urn for one in shown], len(found) > first, bool(after))


def _model(row: Row) -> Model:
    return Model(row["urn"], row["trainedOn"], row["deprecated"])


def count_models(view: GraphView, *, urn: str | None = None, deprecated_only: bool = False) -> int:
    """Return the number of models on all pages."""
    [row] = view.read(
        "read/models/models_count",
        urns=None if urn is None else [_resolve_model(view, urn)],
        visible=view.visibility.regexes,
        deprecatedOnly=deprecated_only,
    )
    return int(row["count"])


def models_using(view: GraphView, urn: str) -> list[ModelUse]:
    """Return the models that use a column, or any column of a dataset, by urn.

    Raises NotFoundError for an unknown urn, and QueryError for a urn of another kind.
    """
    kind, parts = parse_urn(urn)
    if kind not in ("column", "dataset") or not parts:
        raise QueryError(
            f"{urn[:200]} is no urn of a column or dataset",
            hint="Write column:<namespace>:<dataset>:<column>.",
        )
    start = resolve_urn(view, urn)
    dataset = dataset_urn(*parse_urn(start).parts[:2])
    if not read_nodes(view, [dataset]):
        raise NotFoundError(f"no dataset {dataset[:200]}")
    by_dataset = _downstream(view, dataset)
    by_column = {dataset}
    if kind == "column":
        by_column |= {_dataset_of(one) for one in _downstream(view, start)}
    rows = _with_label(view, by_column | by_dataset)
    evidence = {
        row["urn"]: COLUMNS if kind == "column" and row["urn"] in by_column else DATASETS
        for row in rows
        if kind == "dataset" or row["urn"] in by_column or not row["hasColumnLineage"]
    }
    described = view.read(
        "read/models/models",
        urns=sorted(evidence),
        visible=view.visibility.regexes,
        deprecatedOnly=False,
        cursor="",
        limit=len(evidence),
    )
    return [ModelUse(_model(row), evidence[row["urn"]]) for row in described]


def _downstream(view: GraphView, urn: str) -> set[str]:
    request = LineageRequest((urn,), direction="DOWNSTREAM", depth=DEPTH_MAX)
    try:
        nodes = lineage(view, request).nodes
    except NotFoundError:
        return set()
    return {node.urn for node in nodes if node.kind in ("DATASET", "COLUMN")}


def _dataset_of(urn: str) -> str:
    kind, parts = parse_urn(urn)
    return dataset_urn(*parts[:2]) if kind == "column" and parts else urn


def _with_label(view: GraphView, urns: Iterable[str]) -> list[Row]:
    return view.read("read/models/with_label", urns=sorted(urns))


def model_versions(view: GraphView, urn: str, *, first: int = 1) -> list[ModelVersion]:
    """Return the newest complete versions of a model, newest first, with their features traced."""
    model = _resolve_model(view, urn)
    rows = view.read(
        "read/models/versions", urn=model, versions=None, limit=min(first, VERSIONS_MAX)
    )
    versions = _versions(view, rows)
    features = chain.from_iterable(version.features for version in versions)
    names = dict.fromkeys(one.name for one in features)
    sources = _sources_of(view, model, list(names)[:FEATURES_MAX])
    return [_with_sources(version, sources) for version in versions]


def _resolve_model(view: GraphView, urn: str) -> str:
    """Return the canonical urn of a visible model, given its urn or that of one of its versions."""
    kind, parts = parse_urn(urn)
    if kind == "artifact" and len(parts) >= 2:
        urn = dataset_urn(*parts[:2])
    elif kind != "dataset":
        raise QueryError(
            f"{urn[:200]} is no urn of a model", hint="Write dataset:<namespace>:<model>."
        )
    canonical = resolve_urn(view, urn)
    if not read_nodes(view, [canonical]) or not _with_label(view, [canonical]):
        raise NotFoundError(f"no model {urn[:200]}")
    return canonical


def _versions(view: GraphView, rows: Sequence[Row]) -> list[ModelVersion]:
    runs = [row["run"] for row in rows if row["run"]]
    facets = read_all_facets(view, runs)
    inputs = chain.from_iterable(row["inputs"] for row in rows)
    datasets = {dataset for _, dataset, _ in inputs}
    visible = set(select_visible(view, sorted(datasets)))
    return [_version(row, facets.get(row["run"] or "", {}), visible) for row in rows]


def _version(row: Row, facets: Mapping[str, Any], visible: set[str]) -> ModelVersion:
    mlflow = _mapping(facets.get("headwater_mlflow"))
    digests: dict[tuple[str, ...], str | None] = {
        (str(one.get("namespace")), str(one.get("name"))): one.get("digest")
        for one in _mappings(mlflow.get("data"))
    }
    code = row["codeVersion"] or row["codeHash"]
    return ModelVersion(
        urn=row["urn"],
        version=row["version"],
        created_at=row["createdAt"],
        run=row["run"],
        code=str(code) if code else None,
        parameters=_parameters(facets.get("executionParameters")),
        metrics={key: str(value) for key, value in _mapping(mlflow.get("metrics")).items()},
        features=[Feature(name, type) for name, type in json.loads(row["fields"] or "[]")],
        training_data=[
            TrainingData(urn, dataset, version, digests.get(parse_urn(dataset).parts))
            for urn, dataset, version in row["inputs"]
            if dataset in visible
        ],
    )


def _parameters(facet: object) -> dict[str, str]:
    return {
        str(one.get("name") or one.get("key")): str(one.get("value"))
        for one in _mappings(_mapping(facet).get("parameters"))
    }


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _sources_of(view: GraphView, model: str, features: Sequence[str]) -> dict[str, list[str]]:
    """Return the source datasets to which the column lineage leads from each feature."""
    parts = parse_urn(model).parts
    starts = {column_urn(parts[0], parts[1], name): name for name in features if parts}
    known = view.read("read/nodes/properties", urns=sorted(starts)) if starts else []
    urns = [row["urn"] for row in known]
    if not urns:
        return {}
    request = LineageRequest(tuple(urns), direction="UPSTREAM", depth=DEPTH_MAX)
    origins: dict[str, set[str]] = {}
    for edge in lineage(view, request).edges:
        origins.setdefault(edge.target, set()).add(edge.source)
    reached = {urn: _reach(urn, origins) for urn in urns}
    datasets = set(map(_dataset_of, chain.from_iterable(reached.values())))
    rows = view.read("read/models/unproduced", urns=sorted(datasets - {model}))
    sources = {row["urn"] for row in rows}
    return {
        starts[urn]: sorted(sources.intersection(map(_dataset_of, found)))
        for urn, found in reached.items()
    }


def _reach(start: str, origins: Mapping[str, set[str]]) -> set[str]:
    """Return the columns upstream of a column; a path ends at a hidden node."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for urn in origins.get(waiting.pop(), ()):
            if urn not in reached and urn.startswith("column:"):
                reached.add(urn)
                waiting.append(urn)
    return reached - {start}


def _with_sources(version: ModelVersion, sources: Mapping[str, list[str]]) -> ModelVersion:
    features = [Feature(one.name, one.type, sources.get(one.name, [])) for one in version.features]
    traced = sum(1 for one in features if one.sources)
    feature_completeness = traced / len(features) if features else None
    return replace(version, features=features, feature_completeness=feature_completeness)


def model_changes(
    view: GraphView, urn: str, before: str | None = None, after: str | None = None
) -> list[ModelChange]:
    """Return what changed between two versions of a model: by default the newest two.

    A version is given by its urn or by its producer's name. Raises NotFoundError for a missing one.
    """
    model = _resolve_model(view, urn)
    if before is None and after is None:
        rows = view.read("read/models/versions", urn=model, versions=None, limit=2)
        if len(rows) < 2:
            raise NotFoundError(f"the model {urn[:200]} has no two complete versions")
        new, old = _versions(view, rows)
    else:
        new, old = _one_version(view, model, after), _one_version(view, model, before)
    return _changes(old, new)


def _one_version(view: GraphView, model: str, name: str | None) -> ModelVersion:
    names = None if name is None else [name]
    rows = view.read("read/models/versions", urn=model, versions=names, limit=1)
    if not rows:
        raise NotFoundError(f"the model has no complete version {str(name)[:200]}")
    return _versions(view, rows)[0]


def _changes(old: ModelVersion, new: ModelVersion) -> list[ModelChange]:
    parts: list[tuple[str, Mapping[str, str | None], Mapping[str, str | None]]] = [
        (PARAMETER, old.parameters, new.parameters),
        (METRIC, old.metrics, new.metrics),
        (DATA, _data(old), _data(new)),
        (FEATURE, _types(old), _types(new)),
        (CODE, {"code": old.code}, {"code": new.code}),
    ]
    changes: list[ModelChange] = []
    for kind, before, after in parts:
        names = sorted(
            name
            for name in {*before, *after}
            if (name in before, before.get(name)) != (name in after, after.get(name))
        )
        changes += [ModelChange(kind, name, before.get(name), after.get(name)) for name in names]
    return changes


def _data(version: ModelVersion) -> dict[str, str | None]:
    return {one.dataset: one.digest or one.version or one.urn for one in version.training_data}


def _types(version: ModelVersion) -> dict[str, str | None]:
    return {one.name: one.type or "" for one in version.features}


def check_input(view: GraphView, urn: str, dataset: str) -> InputCheck:
    """Return whether a dataset has every feature of the newest complete version of a model.

    Raises NotFoundError for an unknown model or dataset.
    """
    model = _resolve_model(view, urn)
    canonical = resolve_urn(view, dataset)
    row = read_nodes(view, [canonical]).get(canonical)
    if row is None or not canonical.startswith("dataset:"):
        raise NotFoundError(f"no dataset {dataset[:200]}")
    rows = view.read("read/models/versions", urn=model, versions=None, limit=1)
    fields = json.loads(rows[0]["fields"] or "[]") if rows else []
    version = rows[0]["urn"] if rows else None
    if not fields:
        return InputCheck(None, version, "the newest complete version has no features", [])
    if not row.get("schema"):
        return InputCheck(None, version, "the dataset has no schema", [])
    columns: dict[str, str | None] = json.loads(row["schema"])
    problems = [
        problem
        for name, type in fields
        if (problem := _problem(name, type, name in columns, columns.get(name)))
    ]
    drift = _input_drift(view, rows[0]["inputs"], canonical, [name for name, _ in fields])
    return InputCheck(not problems, version, "", problems, drift)


def _input_drift(
    view: GraphView, inputs: Sequence[Sequence[str]], dataset: str, features: Sequence[str]
) -> list[MeasureChange]:
    """Return the measures of a dataset that left the data of a training that the caller sees."""
    visible = set(select_visible(view, sorted({one for _, one, _ in inputs})))
    training = [(one, version) for version, one, _ in inputs if one in visible]
    reports = read_measures(view, [*(one for one, _ in training), dataset])
    baseline = training_baseline(training, reports, features)
    return find_drift(baseline, newest_measures(reports.get(dataset, ())))


def _problem(
    name: str, expected: str | None, is_present: bool, actual: str | None
) -> InputProblem | None:
    """Return why a column does not serve as a feature, or None."""
    if not is_present:
        return InputProblem(name, expected, None, "the dataset has no such column")
    if not expected or not actual or expected.casefold() == actual.casefold():
        return None
    if is_narrowing(actual, expected):
        return InputProblem(name, expected, actual, "values of this type may not fit the feature")
    return None
