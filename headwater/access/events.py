"""What a key may tell: the namespaces in an event's body, judged before the event is kept.

With a key for some namespaces, own jobs and datasets may be described and others may be read, written and referred to;
what would make another's dataset one with something else may not be said, because whoever sees the one would then see
the other.

| in the body | must lie in sight |
|---|---|
| `job.namespace` | yes |
| the namespace of the dataset of a dataset event | yes |
| a `symlinks` facet | the dataset that has it and every name it gives |
| a `headwater_answer` facet | `answers`: an answer goes by its id alone, whatever the namespace it is sent in |
| inputs, outputs, parents, column lineage | no: they are references |

Deciding by hand which names are one dataset (`headwater_symlinks`) needs scope steward besides.

The body is judged as it will be kept and read: without its secrets, by the reader that the worker has, and datasets by
the names that the rules of naming give them, or one namespace could be written in the dress of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headwater.access.principal import Principal, Scope
from headwater.errors import EventError
from headwater.schema.events import Dataset, Event, Facets, parse
from headwater.schema.headwater_facets import ANSWER_FACET, ANSWER_NAMESPACE, SYMLINKS_FACET
from headwater.schema.naming import Naming

_HINT = "Ask for a key for that namespace, or send it with another key."
# Where it stands, the namespace, and the name of a dataset in it ("" for that of a job).
Named = tuple[str, Any, Any]


class ForeignEventError(EventError):
    """An event that the key it came with may not send; `field` says why."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message, field=field, status=403, hint=_HINT)


def authorize_event(
    principal: Principal, body: bytes, naming: Naming, event: Event | None = None
) -> None:
    """Raise ForeignEventError when whoever sends it may not tell this, EventError when it is no event. The body is what
    will be kept; `event` is what it says, where that is known already."""
    if principal.visibility.is_unrestricted and principal.has_scope(Scope.STEWARD):
        return
    event = event or parse(body, received=0)
    for field, dataset in _datasets(event):
        decided = (dataset.facets or Facets()).get(SYMLINKS_FACET)
        if decided is not None:
            field = f"{field}.facets.{SYMLINKS_FACET}"
            if not principal.has_scope(Scope.STEWARD):
                raise ForeignEventError(
                    f"a {SYMLINKS_FACET} facet needs a key with scope {Scope.STEWARD}", field=field
                )
            _judge_all(principal, naming, _names(field, _read(field, decided)))
    if not principal.visibility.is_unrestricted:
        _judge_all(principal, naming, _own(event))
        for field, dataset in _datasets(event):
            symlinks = _read(
                field, (dataset.facets or Facets()).get("symlinks", msgspec.Raw(b"null"))
            )
            if symlinks:
                _judge_all(
                    principal, naming, [(f"{field}.namespace", dataset.namespace, dataset.name)]
                )
                _judge_all(principal, naming, _names(f"{field}.facets.symlinks", symlinks))


def _judge_all(principal: Principal, naming: Naming, named: Iterator[Named] | list[Named]) -> None:
    for field, namespace, name in named:
        if isinstance(namespace, str) and isinstance(name, str) and name:
            namespace = naming.normalise(namespace, name).namespace
        if not isinstance(namespace, str) or not principal.visibility.includes(namespace):
            raise ForeignEventError(
                f"the key {principal.name!r} is not for namespace {namespace!r}", field=field
            )


def _own(event: Event) -> Iterator[Named]:
    if event.job is not None:
        yield "job.namespace", event.job.namespace, ""
    if event.dataset is not None and ANSWER_FACET in (event.dataset.facets or {}):
        yield f"dataset.facets.{ANSWER_FACET}", ANSWER_NAMESPACE, ""
    elif event.dataset is not None:
        yield "dataset.namespace", event.dataset.namespace, event.dataset.name


def _datasets(event: Event) -> Iterator[tuple[str, Dataset]]:
    if event.dataset is not None:
        yield "dataset", event.dataset
    for side, datasets in (("inputs", event.inputs), ("outputs", event.outputs)):
        for index, dataset in enumerate(datasets):
            yield f"{side}.{index}", dataset


def _read(field: str, facet: msgspec.Raw) -> Any:
    """A facet. Raises ForeignEventError for one that cannot be read, of which nobody knows what it names."""
    try:
        return msgspec.json.decode(facet)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ForeignEventError("what names this gives cannot be read", field=field) from error


def _names(field: str, value: Any) -> Iterator[Named]:
    """Every name of a dataset that stands anywhere in a facet, with where it stands."""
    if isinstance(value, Mapping):
        if "namespace" in value:
            yield f"{field}.namespace", value["namespace"], value.get("name", "")
        for key, item in value.items():
            if key != "namespace":
                yield from _names(f"{field}.{key}", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _names(f"{field}.{index}", item)
