"""Trained models in the schema: versions, features, training data, changes, checks of inputs."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from functools import partial
from typing import Annotated

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import After, First, page_length, resolver
from headwater.graphql.types.nodes import Dataset
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import PAGE_DEFAULT
from headwater.lineage.questions import models as questions
from headwater.lineage.questions.measure_changes import MeasureChange

Versions = Annotated[int, strawberry.argument(description="The number of versions at most.")]


@strawberry.enum(description="What shows that a model uses a column.")
class ModelEvidence(Enum):
    COLUMNS = strawberry.enum_value("COLUMNS", description="Column lineage leads to the model.")
    DATASETS = strawberry.enum_value(
        "DATASETS",
        description="Only datasets lead to the model; its use of columns is not known.",
    )


@strawberry.enum(description="The part of a training that changed.")
class ModelPart(Enum):
    PARAMETER = strawberry.enum_value("PARAMETER", description="A parameter of the training.")
    METRIC = strawberry.enum_value("METRIC", description="A metric of the training.")
    DATA = strawberry.enum_value("DATA", description="A dataset that the training read.")
    FEATURE = strawberry.enum_value("FEATURE", description="A feature or its type.")
    CODE = strawberry.enum_value("CODE", description="The version or hash of the code.")


@strawberry.type(description="A named value of a training.")
class ModelValue:
    name: str
    value: str


@strawberry.type(description="A feature of a version of a model.")
class ModelFeature:
    name: str
    type: str | None = strawberry.field(description="Its type in the schema of the version.")
    sources: list[str] = strawberry.field(
        description="The urns of the sources to which its column lineage leads; empty for none."
    )


@strawberry.type(description="A version of a dataset that a training read.")
class TrainingData:
    urn: ID = strawberry.field(description="The urn of the version or source.")
    dataset_urn: ID = strawberry.field(description="The urn of the dataset.")
    version: str | None = strawberry.field(description="The name of the version.")
    digest: str | None = strawberry.field(description="The hash of its content, if it was logged.")


@strawberry.type(description="A complete version of a model.")
class TrainedVersion:
    urn: ID
    version: str | None = strawberry.field(description="The name that its producer gave it.")
    created_at: datetime
    run_urn: ID | None = strawberry.field(description="The urn of the run that trained it.")
    code: str | None = strawberry.field(description="The version, or else hash, of its code.")
    parameters: list[ModelValue] = strawberry.field(description="The parameters of its training.")
    metrics: list[ModelValue] = strawberry.field(description="The metrics of its training.")
    features: list[ModelFeature] = strawberry.field(description="The columns of its schema.")
    training_data: list[TrainingData] = strawberry.field(description="What the training read.")
    feature_completeness: float | None = strawberry.field(
        description="The share of its features that lead to a source; null without features."
    )


@strawberry.type(description="A difference between two versions of a model.")
class ModelChange:
    part: ModelPart = strawberry.field(description="The part that changed.")
    name: str = strawberry.field(description="The name of the part; of data, the dataset's urn.")
    before: str | None = strawberry.field(description="Null if the older version has no value.")
    after: str | None = strawberry.field(description="Null if the newer version has no value.")


@strawberry.type(description="A feature that a dataset does not have with a type that fits.")
class ModelInputProblem:
    feature: str = strawberry.field(description="The name of the feature.")
    expected: str | None = strawberry.field(description="The type of the feature.")
    actual: str | None = strawberry.field(description="The type of the column; null for none.")
    reason: str = strawberry.field(description="The problem in words.")


@strawberry.type(description="A measure of a feature that is far from the data of the training.")
class ModelFeatureDrift:
    feature: str = strawberry.field(description="The name of the feature.")
    measure: str = strawberry.field(description="mean, null share or distinct count.")
    value: float = strawberry.field(description="The measure of the dataset.")
    training: float = strawberry.field(description="The mean of the measure in training data.")
    deviations: float | None = strawberry.field(
        description="The distance in standard deviations; null without three measured versions."
    )
    share: float | None = strawberry.field(
        description="The distance as a share of `training`, of a null share in points; null at 0."
    )


@strawberry.type(description="A check of the columns of a dataset against the features of a model.")
class ModelInputCheck:
    fits: bool | None = strawberry.field(description="Null if one of the schemas is unknown.")
    version: ID | None = strawberry.field(description="The urn of the version that was compared.")
    reason: str = strawberry.field(description="Why `fits` is null; otherwise empty.")
    problems: list[ModelInputProblem] = strawberry.field(
        description="The features that the dataset does not have; empty if it fits."
    )
    drift: list[ModelFeatureDrift] = strawberry.field(
        description="The features whose newest measures are far from those of the training data."
    )


@strawberry.type(description="A dataset that is a trained model.")
class Model:
    urn: ID = strawberry.field(description="The urn of its dataset.")
    trained_on_urns: strawberry.Private[list[str]]
    deprecated_urns: strawberry.Private[list[str]]

    @resolver("Its dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.urn]))[0]

    @resolver("The datasets that it was trained on, by its current lineage.")
    async def trained_on(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.trained_on_urns)

    @resolver("Those of them that a person or a tag deprecated.")
    async def deprecated_inputs(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.deprecated_urns)

    @resolver("Its newest complete versions, newest first.")
    async def versions(self, info: Info, first: Versions = 1) -> list[TrainedVersion]:
        limit = page_length(first, limit=questions.VERSIONS_MAX)
        found = await info.context.run_in_thread(
            partial(questions.model_versions, info.context.view, str(self.urn), first=limit)
        )
        return [_version_of(one) for one in found]

    @resolver("What changed between two of its versions; without both, between its newest two.")
    async def changes(
        self,
        info: Info,
        before: Annotated[
            str | None, strawberry.argument(description="The older version, by urn or name.")
        ] = None,
        after: Annotated[
            str | None, strawberry.argument(description="The newer version; default the newest.")
        ] = None,
    ) -> list[ModelChange] | None:
        found = await info.context.run_in_thread(
            questions.model_changes, info.context.view, str(self.urn), before, after
        )
        return [
            ModelChange(part=ModelPart(one.kind), name=one.name, before=one.before, after=one.after)
            for one in found
        ]

    @resolver("Whether a dataset has the features of its newest version, before inference.")
    async def input_check(
        self,
        info: Info,
        input: Annotated[ID, strawberry.argument(description="The urn of the dataset.")],
    ) -> ModelInputCheck | None:
        found = await info.context.run_in_thread(
            questions.check_input, info.context.view, str(self.urn), str(input)
        )
        problems = [
            ModelInputProblem(
                feature=one.feature, expected=one.expected, actual=one.actual, reason=one.reason
            )
            for one in found.problems
        ]
        version = ID(found.version) if found.version else None
        return ModelInputCheck(
            fits=found.fits,
            version=version,
            reason=found.reason,
            problems=problems,
            drift=[_drift_of(one) for one in found.drift],
        )


@strawberry.type(description="A model that uses a column or a dataset.")
class ModelUse:
    evidence: ModelEvidence
    model: Model = strawberry.field(description="The model.")


@strawberry.type
class ModelQueries:
    @resolver("The trained models by urn, with the datasets that they were trained on.")
    async def models(
        self,
        info: Info,
        urn: Annotated[
            ID | None,
            strawberry.argument(description="Only this model, by its urn or that of a version."),
        ] = None,
        deprecated_only: Annotated[
            bool, strawberry.argument(description="Only models with a deprecated input.")
        ] = False,
        first: First = PAGE_DEFAULT,
        after: After = None,
    ) -> Connection[Model] | None:
        page = await info.context.run_in_thread(
            partial(
                questions.models,
                info.context.view,
                urn=str(urn) if urn else None,
                deprecated_only=deprecated_only,
                first=page_length(first, limit=questions.MODELS_MAX),
                after=after or "",
            )
        )
        found = [_model_of(one) for one in page.entries]
        count = partial(
            info.context.run_in_thread,
            partial(
                questions.count_models,
                info.context.view,
                urn=str(urn) if urn else None,
                deprecated_only=deprecated_only,
            ),
        )
        return Connection.of(page, found, count)

    @resolver("The models that use a column, or that a dataset leads to, by urn.")
    async def models_using(
        self,
        info: Info,
        urn: Annotated[ID, strawberry.argument(description="The urn of a column or a dataset.")],
    ) -> list[ModelUse] | None:
        found = await info.context.run_in_thread(
            questions.models_using, info.context.view, str(urn)
        )
        return [
            ModelUse(evidence=ModelEvidence(one.evidence), model=_model_of(one.model))
            for one in found
        ]


def _model_of(model: questions.Model) -> Model:
    return Model(
        urn=ID(model.urn), trained_on_urns=model.trained_on, deprecated_urns=model.deprecated
    )


def _drift_of(change: MeasureChange) -> ModelFeatureDrift:
    return ModelFeatureDrift(
        feature=change.column,
        measure=change.measure,
        value=change.value,
        training=change.mean,
        deviations=change.deviations,
        share=change.share,
    )


def _version_of(version: questions.ModelVersion) -> TrainedVersion:
    return TrainedVersion(
        urn=ID(version.urn),
        version=version.version,
        created_at=version.created_at,
        run_urn=ID(version.run) if version.run else None,
        code=version.code,
        parameters=_values(version.parameters),
        metrics=_values(version.metrics),
        features=[
            ModelFeature(name=one.name, type=one.type, sources=one.sources)
            for one in version.features
        ],
        training_data=[
            TrainingData(
                urn=ID(one.urn),
                dataset_urn=ID(one.dataset),
                version=one.version,
                digest=one.digest,
            )
            for one in version.training_data
        ],
        feature_completeness=version.feature_completeness,
    )


def _values(values: dict[str, str]) -> list[ModelValue]:
    return [ModelValue(name=name, value=value) for name, value in sorted(values.items())]
