"""The figures of dashboards in the schema: each is worked out when one of its values is asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import strawberry
from strawberry.dataloader import DataLoader

from headwater.graphql.context import Info
from headwater.graphql.types.enums import Fidelity, FigureUnit, GoodDirection
from headwater.graphql.types.fields import First, page_length, resolver
from headwater.graphql.types.lineage_node import LineageNode
from headwater.graphql.types.nodes import Dataset
from headwater.graphql.types.scalars import ID
from headwater.health.figures import breakdowns as found_breakdowns
from headwater.health.figures import models, snapshots
from headwater.health.figures.definitions import FIGURES, FigureDefinition, definitions_of
from headwater.health.figures.figures import Figure as FoundFigure
from headwater.health.figures.figures import evaluate
from headwater.health.figures.measures import LISTED_MAX
from headwater.lineage.nodes import name_nodes
from headwater.lineage.view import GraphView

NODES_DEFAULT = 20
TOP_DEFAULT = 10
HistoryDays = Annotated[
    int, strawberry.argument(description="The number of days up to today, 1 to 400.")
]


@strawberry.type(description="The value of a figure on one day.")
class FigurePoint:
    date: str = strawberry.field(description="The day in UTC, as 2026-01-31.")
    value: float | None = strawberry.field(
        description="Null if there was nothing to measure on that day."
    )
    is_backfilled: bool = strawberry.field(
        description="True if the value was worked out later, from the run history."
    )

    @classmethod
    def of(cls, point: snapshots.Point) -> FigurePoint:
        return cls(date=point.day.isoformat(), value=point.value, is_backfilled=point.is_backfilled)


@strawberry.type(
    description="A figure of a dashboard. Nodes hidden from the key do not count. A figure that "
    "cannot be worked out has null values and an error; the others are answered."
)
class Figure:
    definition: strawberry.Private[FigureDefinition]
    values: strawberry.Private[DataLoader[str, FoundFigure]]
    points: strawberry.Private[DataLoader[tuple[str, int], list[snapshots.Point]]]

    @resolver("Its name, for example coverage.")
    def name(self) -> str:
        return self.definition.name

    @resolver("Its title in words.")
    def title(self) -> str:
        return self.definition.title

    @resolver("What its numerator counts.")
    def counts(self) -> str:
        return self.definition.numerator

    @resolver("What its denominator counts.")
    def out_of(self) -> str:
        return self.definition.denominator

    @resolver("What its nodes are.")
    def lists(self) -> str:
        return self.definition.lists

    @resolver("The unit of its value.")
    def unit(self) -> FigureUnit:
        return FigureUnit(self.definition.unit.value)

    @resolver("The direction in which it gets better.")
    def good_direction(self) -> GoodDirection:
        return GoodDirection(self.definition.good.value)

    @resolver("The worst value that needs no attention; null if every value is as good.")
    def threshold(self) -> float | None:
        return self.definition.threshold

    @resolver("The value to reach; null if every value is as good.")
    def target(self) -> float | None:
        return self.definition.target

    @resolver("The length of its window in days; null for a figure of the graph as it is.")
    def window_days(self) -> int | None:
        return self.definition.window_days or None

    @resolver("The path of the page that lists what it counts.")
    def href(self) -> str:
        return self.definition.href

    @resolver("Its value; null if there is nothing to measure.")
    async def value(self) -> float | None:
        return (await self._found()).value

    @resolver("Its numerator; null for a median.")
    async def numerator(self) -> float | None:
        return (await self._found()).numerator

    @resolver("Its denominator; null if the snapshot has none.")
    async def denominator(self) -> int | None:
        return (await self._found()).denominator

    @resolver("True if its value is beyond the threshold, whichever side of it is good.")
    async def is_below_threshold(self) -> bool | None:
        return (await self._found()).is_out_of_bounds

    @resolver("The instant of its value.")
    async def as_of(self) -> datetime | None:
        return (await self._found()).as_of

    @resolver("True if only a sample of the nodes was measured, or a traversal met a limit.")
    async def is_sampled(self) -> bool | None:
        return (await self._found()).is_sampled

    @resolver("The nodes that `lists` describes, at most 200; none for a value of the past.")
    async def nodes(self, info: Info, first: First = None) -> list[LineageNode] | None:
        length = page_length(first, NODES_DEFAULT, LISTED_MAX)
        urns = (await self._found()).urns[:length]
        nodes = await info.context.run_in_thread(name_nodes, info.context.view, urns)
        return [LineageNode.of(node) for node in nodes]

    @resolver("The number of nodes that can be listed, at most 200.")
    async def node_count(self) -> int | None:
        return len((await self._found()).urns)

    @resolver(
        "Its daily snapshots, oldest first; days without one are left out. A snapshot counts every "
        "node, so a key for some namespaces gets none."
    )
    async def history(
        self, days: HistoryDays = snapshots.HISTORY_DAYS_DEFAULT
    ) -> list[FigurePoint] | None:
        points = await self.points.load((self.definition.name, days))
        return [FigurePoint.of(point) for point in points]

    async def _found(self) -> FoundFigure:
        return await self.values.load(self.definition.name)


def figures_of(info: Info, names: list[str] | None, at: datetime | None) -> list[Figure]:
    """Return figures by name; each is worked out in a thread of its own.

    Raises QueryError for an unknown name.
    """
    view = info.context.view
    now = datetime.now(UTC)

    async def load_value(name: str) -> FoundFigure | Exception:
        try:
            return await info.context.run_in_thread(_figure, view, name, now, at)
        except Exception as error:
            return error

    async def load_values(names: list[str]) -> list[FoundFigure | Exception]:
        return list(await asyncio.gather(*map(load_value, names)))

    async def load_points(keys: list[tuple[str, int]]) -> list[list[snapshots.Point]]:
        by_days: dict[int, dict[str, list[snapshots.Point]]] = {}
        for days in dict.fromkeys(days for _, days in keys):
            asked = [name for name, of in keys if of == days]
            by_days[days] = await info.context.run_in_thread(
                partial(snapshots.history, view, asked, days=days, now=now)
            )
        return [by_days[days][name] for name, days in keys]

    values = DataLoader(load_fn=load_values)
    points = DataLoader(load_fn=load_points)
    return [
        Figure(definition=definition, values=values, points=points)
        for definition in definitions_of(names)
    ]


def _figure(view: GraphView, name: str, now: datetime, at: datetime | None) -> FoundFigure:
    definition = FIGURES[name]
    return (
        evaluate(view, definition, now) if at is None else snapshots.figure_at(view, definition, at)
    )


@strawberry.type(description="A dataset with the datasets, jobs and answers downstream of it.")
class DatasetImpact:
    datasets: int = strawberry.field(description="The number of datasets downstream.")
    jobs: int = strawberry.field(description="The number of jobs downstream.")
    answers: int = strawberry.field(
        description="The number of answers that cite it or a dataset downstream."
    )
    consumers: int = strawberry.field(description="The number of these jobs and answers.")
    urn: strawberry.Private[str]

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.urn]))[0]


@strawberry.type(description="A version of a model, with how much of its lineage is known.")
class ModelVersion:
    urn: ID = strawberry.field(description="The version.")
    version: str = strawberry.field(description="Its producer's name for it, or else its run id.")
    created_at: datetime
    completeness: float = strawberry.field(
        description="The share of the versions behind it, itself included, whose origin is known."
    )
    known: int = strawberry.field(description="The number of versions with a known origin.")
    versions: int = strawberry.field(description="The number of versions behind it and itself.")
    dataset_urn: strawberry.Private[str]

    @resolver("The model.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.dataset_urn]))[0]


@strawberry.type(description="The datasets of one fidelity whose runs cost about the same.")
class CostCell:
    fidelity: Fidelity = strawberry.field(description="The fidelity of these datasets.")
    cost_from: float = strawberry.field(
        description="In seconds; these datasets cost more, unless both bounds are 0."
    )
    cost_to: float | None = strawberry.field(
        description="In seconds; these datasets cost at most that. Null for no bound."
    )
    datasets: int = strawberry.field(description="The number of these datasets.")
    seconds: float = strawberry.field(
        description="The seconds of the runs of the last 30 days that wrote them; those of a run "
        "are split evenly among its outputs."
    )


@strawberry.type(description="What the figures of dashboards are made of.")
class Breakdowns:
    @resolver(
        "The datasets with the most jobs and answers downstream, among the 50 that the most jobs "
        "read and the most answers cite."
    )
    async def top_datasets(self, info: Info, first: First = None) -> list[DatasetImpact]:
        length = page_length(first, TOP_DEFAULT)
        found = await info.context.run_in_thread(
            found_breakdowns.top_datasets, info.context.view, first=length
        )
        return [
            DatasetImpact(
                datasets=one.datasets,
                jobs=one.jobs,
                answers=one.answers,
                consumers=one.consumers,
                urn=one.dataset,
            )
            for one in found
        ]

    @resolver("The newest versions of models, newest first, with their completeness.")
    async def model_versions(self, info: Info, first: First = None) -> list[ModelVersion]:
        length = page_length(first, models.VERSIONS_MAX)
        found = await info.context.run_in_thread(
            models.model_versions, info.context.view, limit=length
        )
        return [
            ModelVersion(
                urn=one.urn,
                version=one.version,
                created_at=one.created_at,
                completeness=one.completeness,
                known=one.known,
                versions=one.versions,
                dataset_urn=one.dataset,
            )
            for one in found
        ]

    @resolver(
        "The number of datasets by fidelity of lineage and by cost, every cell in order: where "
        "expensive data is poorly known."
    )
    async def cost_against_fidelity(self, info: Info) -> list[CostCell]:
        found = await info.context.run_in_thread(
            found_breakdowns.cost_against_fidelity, info.context.view, datetime.now(UTC)
        )
        return [
            CostCell(**{**vars(cell), "fidelity": Fidelity(cell.fidelity.value)}) for cell in found
        ]


@strawberry.type
class FigureQueries:
    @resolver("The figures of dashboards, by name or all.")
    async def figures(
        self,
        info: Info,
        names: Annotated[
            list[str] | None, strawberry.argument(description="Only these figures, in this order.")
        ] = None,
        at: Annotated[
            datetime | None,
            strawberry.argument(
                description="The values of the last snapshots until this day; null for now."
            ),
        ] = None,
    ) -> list[Figure] | None:
        return figures_of(info, names, at)

    @resolver("Lists behind the figures: top datasets, model versions, cost against fidelity.")
    async def breakdowns(self) -> Breakdowns | None:
        return Breakdowns()
