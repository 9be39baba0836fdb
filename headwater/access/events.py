"""What a key may tell: the namespaces in an event's body, judged before the event is kept.

With a key for some namespaces, own jobs and datasets may be described and others may be read, written and referred to;
what would make another's dataset one with something else may not be said, because whoever sees the one would then see
the other.

| in the body | must lie in sight |
|---|---|
| `job.namespace` | yes |
| `dataset.namespace` of a dataset event | yes |
| a `symlinks` facet | the dataset that has it and every name it gives |
| inputs, outputs, parents, column lineage | no: they are references |

Deciding by hand which names are one dataset (`headwater_symlinks`) needs scope steward besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headwater.access.principal import Principal, Scope
from headwater.errors import EventError
from headwater.schema.native import SYMLINKS_FACET

_MEND = "Ask for a key for that namespace, or send it with another key."
Named = tuple[str, Any]


class ForeignEventError(EventError):
    """An event that the key it came with may not send; `field` says why."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message, field=field, status=403, mend=_MEND)


def judge(principal: Principal, body: bytes) -> None:
    """Raise ForeignEventError when whoever sends it may not tell this. The body is a well-formed event."""
    if principal.sight.everything and principal.may(Scope.STEWARD):
        return
    event = msgspec.json.decode(body)
    for field, facet in _decisions(event):
        if not principal.may(Scope.STEWARD):
            raise ForeignEventError(f"a {SYMLINKS_FACET} facet needs a key with scope {Scope.STEWARD}", field=field)
        _judge_all(principal, _names(field, facet))
    if not principal.sight.everything:
        _judge_all(principal, _own(event))
        for field, dataset in _datasets(event):
            symlinks = _mapping(_mapping(dataset.get("facets")).get("symlinks"))
            if symlinks:
                _judge_all(principal, [(f"{field}.namespace", dataset.get("namespace"))])
                _judge_all(principal, _names(f"{field}.facets.symlinks", symlinks))


def _judge_all(principal: Principal, named: Iterator[Named] | list[Named]) -> None:
    for field, namespace in named:
        if not isinstance(namespace, str) or not principal.sight.sees(namespace):
            raise ForeignEventError(f"the key {principal.name!r} is not for namespace {namespace!r}", field=field)


def _own(event: Mapping[str, Any]) -> Iterator[Named]:
    if "job" in event:
        yield "job.namespace", _mapping(event["job"]).get("namespace")
    if "dataset" in event:
        yield "dataset.namespace", _mapping(event["dataset"]).get("namespace")


def _datasets(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "dataset" in event:
        yield "dataset", _mapping(event["dataset"])
    for side in ("inputs", "outputs"):
        listed = event.get(side)
        for index, dataset in enumerate(listed if isinstance(listed, list) else []):
            yield f"{side}.{index}", _mapping(dataset)


def _decisions(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for field, dataset in _datasets(event):
        facets = _mapping(dataset.get("facets"))
        if SYMLINKS_FACET in facets:
            yield f"{field}.facets.{SYMLINKS_FACET}", _mapping(facets[SYMLINKS_FACET])


def _names(field: str, value: Any) -> Iterator[Named]:
    """Every namespace that stands anywhere in a facet, with where it stands."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "namespace":
                yield f"{field}.namespace", item
            else:
                yield from _names(f"{field}.{key}", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _names(f"{field}.{index}", item)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
