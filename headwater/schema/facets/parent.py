"""The `parent` facet: the parent run and the root run of a run, in every spelling that producers
send.

| spelling | producer |
|---|---|
| `parentRun` instead of `parent` | Airflow until 2022, Great Expectations until 2024 |
| no `job` | hand-written senders |
| `rootParentRunId` beside `run` | builds of 2025, before version 1-1-0 introduced `root` |
| `run_id`; the run's id without its `run`; `parentRunId` | hand-written senders |

Of two facets, `parent` has precedence. The facets that version 1-2-0 allows inside `run` and `job`
are read only from their own events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from headwater.schema.facets.kinds import CACHED_BYTES_MAX, Facet, Part, Uuid

# In order of precedence.
PARENT_KEYS = ("parent", "parentRun")
_RUN_ID = ("runId", "run_id", "id")
_FLAT_RUN_ID = ("runId", "run_id", "parentRunId", "parent_run_id")
_FLAT_ROOT_RUN_ID = ("rootParentRunId", "rootRunId", "root_run_id")


class ParentRun(Part, frozen=True):
    run_id: Uuid
    facets: dict[str, msgspec.Raw] | None = None


class ParentJob(Part, frozen=True):
    namespace: str
    name: str
    facets: dict[str, msgspec.Raw] | None = None


class Root(Part, frozen=True):
    run: ParentRun
    job: ParentJob


class ParentFacet(Facet, frozen=True):
    """The facet as the specification defines it."""

    run: ParentRun
    job: ParentJob
    root: Root | None = None


class JobName(NamedTuple):
    namespace: str
    name: str


class Parent(NamedTuple):
    """A parent facet, read leniently: at least `run_id` or `job` is present."""

    run_id: str | None = None
    job: JobName | None = None
    root_run_id: str | None = None
    root_job: JobName | None = None


def read_parent(facets: Mapping[str, msgspec.Raw | bytes | str] | None) -> Parent | None:
    """Read the parent from the facets of a run, in any spelling; None if they name none."""
    return next(_parents(facets or {}), None)


def _parents(facets: Mapping[str, msgspec.Raw | bytes | str]) -> Iterator[Parent]:
    for key in PARENT_KEYS:
        raw = facets.get(key)
        parent = _parent(raw) if raw is not None else None
        if parent is not None and (parent.run_id or parent.job):
            yield parent


def _parent(raw_parent: msgspec.Raw | bytes | str) -> Parent | None:
    raw = raw_parent if isinstance(raw_parent, str) else bytes(raw_parent)
    return _remembered(raw) if len(raw) <= CACHED_BYTES_MAX else _read(raw)


def _read(raw: bytes | str) -> Parent | None:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("_deleted") is True:
        return None
    root = _object(value.get("root"))
    return Parent(
        _text(_object(value.get("run")), _RUN_ID) or _text(value, _FLAT_RUN_ID),
        _job(value),
        _text(_object(root.get("run")), _RUN_ID)
        or _text(root, _FLAT_RUN_ID)
        or _text(value, _FLAT_ROOT_RUN_ID),
        _job(root),
    )


# All events of a run, and all runs of a parent, send the same facet.
_remembered = lru_cache(maxsize=4_096)(_read)


def _job(holder: dict[str, Any]) -> JobName | None:
    job = _object(holder.get("job"))
    namespace = _text(job, ("namespace",)) or _text(holder, ("jobNamespace", "namespace"))
    name = _text(job, ("name",)) or _text(holder, ("jobName", "name"))
    return JobName(namespace, name) if namespace and name else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of these values that is a text and not blank."""
    texts = (value.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)
