"""The steps of one run: a graph whose edges lead from the output of a step to its use."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from headwater.steps.fingerprints import Fingerprint, fingerprint

STEPS_MAX = 200

_current: ContextVar[Recorder | None] = ContextVar("headwater_steps", default=None)


@dataclass
class Frame:
    """An input or output of a step; `step` is the number of the step that made an input."""

    fingerprint: Fingerprint
    step: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the frame as the facet has it."""
        return {**self.fingerprint.to_json(), "fromStep": self.step}


@dataclass
class Step:
    """One call of a tracked function."""

    name: str
    code: str
    inputs: list[Frame] = field(default_factory=list)
    outputs: list[Frame] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None
    rows: dict[str, Any] | None = None
    number: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the step as the facet has it."""
        return {
            "number": self.number,
            "name": self.name,
            "codeHash": self.code,
            "seconds": round(self.seconds, 6),
            "error": self.error,
            "inputs": [frame.to_json() for frame in self.inputs],
            "outputs": [frame.to_json() for frame in self.outputs],
            "rows": self.rows,
        }


class Recorder:
    """Records steps. Safe to share between threads.

    An input comes from the step that returned the same object, or else from the newest step that
    returned a frame with an equal fingerprint.
    """

    def __init__(self, *, measure_spark: bool = False, steps_max: int = STEPS_MAX) -> None:
        self._measure_spark, self._steps_max = measure_spark, steps_max
        self._lock = threading.Lock()
        self._step_of_object: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._step_of_fingerprint: dict[str, int] = {}
        self._count = 0
        self.steps: list[Step] = []

    @property
    def omitted(self) -> int:
        """Return the number of steps that are not kept, because there were too many."""
        return self._count - len(self.steps)

    def input(self, frame: Any) -> Frame:
        """Return the fingerprint of an input with the step that made it."""
        taken = fingerprint(frame, measure_spark=self._measure_spark)
        with self._lock:
            known = self._step_of_object.get(id(frame))
            # An id is used again after the object is gone.
            if known is not None and known[0]() is frame:
                return Frame(taken, known[1])
            return Frame(taken, self._step_of_fingerprint.get(taken.id))

    def add(self, step: Step, outputs: Iterable[Any]) -> None:
        """Add a step that has ended, with the frames that it returned."""
        frames = [
            (frame, fingerprint(frame, measure_spark=self._measure_spark)) for frame in outputs
        ]
        with self._lock:
            self._count += 1
            step.number = self._count
            for frame, taken in frames:
                step.outputs.append(Frame(taken))
                self._step_of_object[id(frame)] = (weakref.ref(frame), step.number)
                self._step_of_fingerprint[taken.id] = step.number
            if len(self.steps) < self._steps_max:
                self.steps.append(step)

    def to_json(self) -> dict[str, Any]:
        """Return all steps as the facet has them."""
        with self._lock:
            return {"steps": [step.to_json() for step in self.steps], "omitted": self.omitted}


def current_recorder() -> Recorder | None:
    """Return the recorder of the current run; None outside of a run."""
    return _current.get()


def set_current(recorder: Recorder | None) -> Any:
    """Make a recorder current; return the token for `reset_current`."""
    return _current.set(recorder)


def reset_current(token: Any) -> None:
    """Restore what was current before."""
    _current.reset(token)
