"""The steps of a run: what tracked functions recorded in the facet `headwater_steps`. Pure.

A malformed step is left out, and so is everything above the limits that `headwater.steps` keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec

STEPS_FACET = "headwater_steps"
STEPS_MAX = 200
FRAMES_MAX = 20
COLUMNS_MAX = 200

# An Int and a Long of GraphQL.
_Number = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

T = TypeVar("T", bound=msgspec.Struct)


class StepColumn(msgspec.Struct, frozen=True):
    """A column of a data frame, with its type as the library names it."""

    name: str
    type: str = ""


class StepFrame(msgspec.Struct, frozen=True, rename="camel"):
    """The fingerprint of a data frame; `from_step` is the number of the step that made it."""

    fingerprint: str
    kind: str = ""
    columns: list[StepColumn] = []
    row_count: _Count | None = None
    null_counts: dict[str, int] | None = None
    content_hash: str = ""
    from_step: _Number | None = None


class StepRows(msgspec.Struct, frozen=True, rename="camel"):
    """How many keys a step kept, dropped and added, with samples if the sender agreed."""

    key: str
    kept: _Count
    dropped: _Count
    added: _Count
    dropped_sample: list[str] = []
    added_sample: list[str] = []


class RunStep(msgspec.Struct, frozen=True, rename="camel"):
    """One call of a tracked function."""

    number: _Number
    name: str
    code_hash: str = ""
    seconds: float | None = None
    error: str | None = None
    inputs: list[StepFrame] = []
    outputs: list[StepFrame] = []
    rows: StepRows | None = None


def run_steps(facets: Mapping[str, Any]) -> list[RunStep]:
    """Return the steps in the facets of a run, in order."""
    facet = facets.get(STEPS_FACET)
    sent = facet.get("steps") if isinstance(facet, Mapping) else None
    steps = [_step(one) for one in sent[:STEPS_MAX]] if isinstance(sent, list) else []
    return sorted((step for step in steps if step is not None), key=lambda step: step.number)


def _step(sent: Any) -> RunStep | None:
    if not isinstance(sent, Mapping):
        return None
    frames = {side: _frames(sent.get(side)) for side in ("inputs", "outputs")}
    rows = _converted(sent.get("rows"), StepRows)
    step = _converted({**sent, "inputs": [], "outputs": [], "rows": None}, RunStep)
    return msgspec.structs.replace(step, **frames, rows=rows) if step is not None else None


def _frames(sent: Any) -> list[StepFrame]:
    if not isinstance(sent, list):
        return []
    bounded = [
        {**one, "columns": _bounded(one.get("columns"))}
        for one in sent[:FRAMES_MAX]
        if isinstance(one, Mapping)
    ]
    frames = [_converted(one, StepFrame) for one in bounded]
    return [frame for frame in frames if frame is not None]


def _bounded(columns: Any) -> list[Any]:
    return columns[:COLUMNS_MAX] if isinstance(columns, list) else []


def _converted(sent: Any, kind: type[T]) -> T | None:
    if sent is None:
        return None
    try:
        return msgspec.convert(sent, kind)
    except (msgspec.ValidationError, OverflowError):
        return None
