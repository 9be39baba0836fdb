"""What a story consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headwater.scenarios.stage import Stage
from headwater.scenarios.truth import Truth
from headwater.scenarios.workshop import Workshop


def _nothing_more(stage: Stage) -> None:
    del stage


@dataclass(frozen=True)
class Story:
    """An incident.

    prepare: build the estate and let it run as on every night.
    inject: let the fault happen.
    before_fault: steps between the regular nights and the fault; these nights must then include
        that of tonight.
    repair: remove the cause and run the jobs of the plan again.
    examine: further steps after the usual questions and before the repair.
    verify: steps after the repair that compare the data with the expected data.
    uses_spark: whether its jobs are Spark applications.
    """

    name: str
    title: str
    fault: str
    repaired: str
    prepare: Callable[[Workshop], None]
    inject: Callable[[Workshop], None]
    repair: Callable[[Workshop], None]
    truth: Truth
    origin: str = ""
    before_fault: Callable[[Stage], None] | None = None
    examine: Callable[[Stage], None] = field(default=_nothing_more)
    verify: Callable[[Stage], None] = field(default=_nothing_more)
    uses_spark: bool = False
