"""Service levels in the schema: each is worked out when one of its values is asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import strawberry
from strawberry.dataloader import DataLoader

from headwater.graphql.context import Info
from headwater.graphql.queries.figures import HistoryDays
from headwater.graphql.types.enums import BudgetUnit, FigureUnit, GoodDirection, Verdict
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.scalars import ID
from headwater.health.figures.snapshots import HISTORY_DAYS_DEFAULT
from headwater.health.service_levels.definitions import ServiceLevel as Definition
from headwater.health.service_levels.definitions import levels_of
from headwater.health.service_levels.evaluation import LevelState, evaluate, history


@strawberry.type(description="The value of a service level on one day.")
class ServiceLevelPoint:
    date: str = strawberry.field(description="The day in UTC, as 2026-01-31.")
    value: float | None = strawberry.field(
        description="Null if there was nothing to measure on that day."
    )


@strawberry.type(
    description="A service level: what the platform promises, and how well it keeps it. Nodes "
    "hidden from the key do not count. Counters of the processes cover all "
    "namespaces, so only a key for all of them sees these levels."
)
class ServiceLevel:
    definition: strawberry.Private[Definition]
    states: strawberry.Private[DataLoader[str, LevelState]]

    @resolver("M1 to M10, or the name of a figure that is a key figure of trust.")
    def id(self) -> ID:
        return ID(self.definition.id)

    @resolver("Its name, for example ingest-lag.")
    def name(self) -> str:
        return self.definition.name

    @resolver("Its title in words.")
    def title(self) -> str:
        return self.definition.title

    @resolver("What its value is.")
    def measures(self) -> str:
        return self.definition.value

    @resolver("What counts as good.")
    def counts(self) -> str:
        return self.definition.numerator

    @resolver("What its denominator counts.")
    def out_of(self) -> str:
        return self.definition.denominator

    @resolver("Where its counts come from.")
    def source(self) -> str:
        return self.definition.origin

    @resolver("The unit of its value.")
    def unit(self) -> FigureUnit:
        return FigureUnit(self.definition.unit.value)

    @resolver("The direction in which it gets better.")
    def good_direction(self) -> GoodDirection:
        return GoodDirection(self.definition.good.value)

    @resolver("The length of its window in days.")
    def window_days(self) -> int:
        return self.definition.window_days

    @resolver("The share of good parts or days that is promised; the rest is the budget.")
    def objective(self) -> float:
        return self.definition.objective

    @resolver("What the budget of errors counts.")
    def budget_unit(self) -> BudgetUnit:
        return BudgetUnit(self.definition.budget.value)

    @resolver("Its value; null if there is nothing to measure.")
    async def value(self) -> float | None:
        return (await self._state()).value

    @resolver("The value to reach.")
    async def target(self) -> float | None:
        return (await self._state()).level.target

    @resolver("True if the value reaches the target; null without a value.")
    async def is_met(self) -> bool | None:
        return (await self._state()).is_met

    @resolver("Its good parts in the window, or now.")
    async def good(self) -> float | None:
        return (await self._state()).counts.good

    @resolver("All its parts in the window, or now.")
    async def total(self) -> float | None:
        return (await self._state()).counts.total

    @resolver(
        "The rest of the budget of errors: 1 is untouched, 0 is spent, below 0 is overspent; null "
        "if nothing was counted."
    )
    async def budget_left(self) -> float | None:
        return (await self._state()).budget_left

    @resolver(
        "How many times too fast the budget burns, over an hour and its last 5 minutes, or 6 hours "
        "and their last 30 minutes; above 4 it is urgent. Null if nothing was counted."
    )
    async def burn_rate(self) -> float | None:
        return (await self._state()).burn_rate

    @resolver("How well it is kept.")
    async def verdict(self) -> Verdict | None:
        return Verdict((await self._state()).verdict.value)

    @resolver("The instant of its value.")
    async def as_of(self) -> datetime | None:
        return (await self._state()).as_of

    @resolver(
        "Its daily values, oldest first; days without one are left out. They count every node, so "
        "a key for some namespaces gets none."
    )
    async def history(
        self, info: Info, days: HistoryDays = HISTORY_DAYS_DEFAULT
    ) -> list[ServiceLevelPoint] | None:
        points = await info.context.run_in_thread(
            partial(history, info.context.view, self.definition, days=days)
        )
        return [ServiceLevelPoint(date=one.day.isoformat(), value=one.value) for one in points]

    async def _state(self) -> LevelState:
        return await self.states.load(self.definition.id)


@strawberry.type
class ServiceLevelQueries:
    @resolver("The service levels of the platform, by id or all: M1 to M10 and the key figures.")
    async def service_levels(
        self,
        info: Info,
        ids: Annotated[
            list[str] | None,
            strawberry.argument(description="Only these service levels, in this order."),
        ] = None,
    ) -> list[ServiceLevel] | None:
        levels = {level.id: level for level in levels_of(ids)}
        now = datetime.now(UTC)

        async def load(id: str) -> LevelState | Exception:
            try:
                return await info.context.run_in_thread(
                    evaluate, info.context.view, levels[id], now
                )
            except Exception as error:
                return error

        async def load_all(ids: list[str]) -> list[LevelState | Exception]:
            return list(await asyncio.gather(*map(load, ids)))

        states = DataLoader(load_fn=load_all)
        return [ServiceLevel(definition=level, states=states) for level in levels.values()]
