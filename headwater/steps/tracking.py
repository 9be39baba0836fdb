"""The decorator `track_transformation`: it records one step for each call of a function."""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar, overload

from headwater.steps.fingerprints import is_frame
from headwater.steps.recorder import Recorder, Step, current_recorder
from headwater.steps.row_changes import RowTracking, keys_of, row_changes

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger("headwater")
_FRAMES_MAX = 20
_ERROR_CHARACTERS_MAX = 500


@overload
def track_transformation(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def track_transformation(
    *, name: str | None = None, rows: RowTracking | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def track_transformation(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    rows: RowTracking | None = None,
) -> Any:
    """Record each call of a function as a step of the current `headwater.steps.run`.

    Data frames among the arguments, also inside lists, tuples and dictionaries, are the inputs of
    the step; those in the result are its outputs. Outside of a run the function is just called.

    Args:
        function: The function to record. Without it the result is a decorator.
        name: The name of the step; by default that of the function.
        rows: Compare rows by a key: `headwater.steps.rows(key="id")`.

    Returns:
        A function with the same arguments and result. It raises what `function` raises.
    """
    if function is None:
        return functools.partial(_tracked, name=name, rows=rows)
    return _tracked(function, name=name, rows=rows)


def _tracked(
    function: Callable[..., Any], *, name: str | None, rows: RowTracking | None
) -> Callable[..., Any]:
    code = _code_hash(function)
    shown = str(name or getattr(function, "__name__", type(function).__name__))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        recorder = current_recorder()
        if recorder is None:
            return function(*args, **kwargs)
        begun = _begin(recorder, shown, code, rows, (args, kwargs))
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            begun.fail(error)
            raise
        begun.end(result)
        return result

    return call


class _BegunStep:
    """A step that has begun. An error of its own is logged, and the step is left out."""

    def __init__(self, recorder: Recorder, step: Step, rows: RowTracking | None) -> None:
        self._recorder, self._step, self._rows = recorder, step, rows
        self._keys: set[Any] | None = None
        self._began = time.perf_counter()

    def read_inputs(self, arguments: Any) -> None:
        frames = list(_frames(arguments))[:_FRAMES_MAX]
        self._step.inputs = [self._recorder.input(frame) for frame in frames]
        if self._rows is not None and frames:
            self._keys = keys_of(frames[0], self._rows)
        self._began = time.perf_counter()

    def fail(self, error: BaseException) -> None:
        self._finish(error=f"{type(error).__name__}: {error}"[:_ERROR_CHARACTERS_MAX])

    def end(self, result: Any) -> None:
        self._finish(result)

    def _finish(self, result: Any = None, error: str | None = None) -> None:
        self._step.seconds = time.perf_counter() - self._began
        self._step.error = error
        try:
            frames = list(_frames(result))[:_FRAMES_MAX]
            if self._rows is not None and frames:
                after = keys_of(frames[0], self._rows)
                self._step.rows = row_changes(self._keys, after, self._rows)
            self._recorder.add(self._step, frames)
        except Exception:  # a job must not fail because of its lineage
            log.warning("step_not_recorded name=%s", self._step.name, exc_info=True)


class _IgnoredStep(_BegunStep):
    """A step whose inputs could not be read."""

    def _finish(self, result: Any = None, error: str | None = None) -> None:
        del result, error


def _begin(
    recorder: Recorder, name: str, code: str, rows: RowTracking | None, arguments: Any
) -> _BegunStep:
    begun = _BegunStep(recorder, Step(name, code), rows)
    try:
        begun.read_inputs(arguments)
    except Exception:  # a job must not fail because of its lineage
        log.warning("step_not_recorded name=%s", name, exc_info=True)
        return _IgnoredStep(recorder, Step(name, code), None)
    return begun


def _frames(value: Any, depth: int = 3) -> Iterator[Any]:
    """Yield the data frames in a value, and in its lists, tuples and dictionaries."""
    if is_frame(value):
        yield value
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from _frames(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from _frames(item, depth - 1)


def _code_hash(function: Callable[..., Any]) -> str:
    """Return a hash of the source of a function, or else of its bytecode; "" without either."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        if code is None:
            return ""
        return hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest()[:16]
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:16]
