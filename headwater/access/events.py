"""Authorize the content of an event: its key must cover the namespaces that the event describes.

A key for some namespaces may describe its own jobs and datasets, and may refer to others. Facets by
which it describes another dataset, such as a schema or owners, are removed (`own_facets_only`):
producers send them with every input. It may not alias a dataset outside its namespaces: readers of
one name would gain access to the other.

| in the body | must be in a namespace of the key |
|---|---|
| `job.namespace` | yes |
| the namespace of the dataset of a dataset event | yes |
| a `symlinks` facet | the dataset that has it, and every name in it |
| a `headwater_answer` facet | `answers`: the id alone identifies an answer, in any namespace |
| a `headwater_tag` facet | `tags`: the name alone identifies a tag, in any namespace |
| inputs, outputs, parents, column lineage | no: they are references |

The decisions of a steward also need scope steward: on aliases (`headwater_symlinks`), and the edits
of tags, deletions and other properties (`headwater_tags`, `headwater_deletion`, `headwater_tag`,
`headwater_edits`). An edit may name its author (`by`): only the key that sends it.

The check runs on the body that is stored: redacted, parsed by the worker's parser, with dataset
names normalised. Otherwise one spelling of a namespace could pass for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headwater.access.principal import Principal, Scope
from headwater.errors import EventError
from headwater.schema.events import Dataset, Event, Facets, parse
from headwater.schema.facets import salvage
from headwater.schema.facets.headwater import EditsFacet
from headwater.schema.headwater_facets import (
    ANSWER_FACET,
    ANSWER_NAMESPACE,
    EDIT_FACETS,
    EDITS_FACET,
    SYMLINKS_FACET,
    TAG_FACET,
    TAG_NAMESPACE,
)
from headwater.schema.naming import Naming
from headwater.schema.stored_json import decode, encode

# Facets of a dataset that are about the use by a run, not about what the dataset is.
_FACETS_OF_READS = frozenset({"version", "datasetVersion", "symlinks"})
_FACETS_OF_USE = {
    "inputs": _FACETS_OF_READS,
    "outputs": _FACETS_OF_READS | {"columnLineage"},
}
# Facets of a use that judge the dataset.
_CHECK_FACETS = frozenset({"dataQualityAssertions", "dataQualityMetrics"})
_DECISIONS = EDIT_FACETS | {SYMLINKS_FACET, TAG_FACET}
_HINT = "Create a key for that namespace, or send the event with another key."
# The path in the event, the namespace, and the name of the dataset ("" for a job).
NameAtPath = tuple[str, Any, Any]


class ForeignEventError(EventError):
    """An event that its key may not send; `field` is the path of the reason."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message, field=field, status=403, hint=_HINT)


def authorize_event(
    principal: Principal, body: bytes, naming: Naming, event: Event | None = None
) -> None:
    """Check that a principal may send an event.

    `body` is the redacted body, and `event` the event parsed from it, if it is already parsed.

    Raises:
        ForeignEventError: The key does not cover a namespace, or lacks scope steward.
        EventError: The body is no event.
    """
    if event is not None or _may_hold_edits(body):
        event = event or parse(body, received=0)
        _check_author(principal, event)
    if principal.writable.is_unrestricted and principal.has_scope(Scope.STEWARD):
        return
    event = event or parse(body, received=0)
    if not principal.has_scope(Scope.STEWARD):
        _check_decisions(event)
    for field, dataset in _datasets(event):
        decision = (dataset.facets or Facets()).get(SYMLINKS_FACET)
        if decision is not None:
            field = f"{field}.facets.{SYMLINKS_FACET}"
            _check_namespaces(principal, naming, _names(field, _read(field, decision)))
    if not principal.writable.is_unrestricted:
        _check_namespaces(principal, naming, _described(event))
        for field, dataset in _datasets(event):
            facet = (dataset.facets or Facets()).get("symlinks")
            symlinks = _read(field, facet) if facet is not None else None
            if symlinks:
                _check_namespaces(
                    principal, naming, [(f"{field}.namespace", dataset.namespace, dataset.name)]
                )
                _check_namespaces(principal, naming, _names(f"{field}.facets.symlinks", symlinks))


def own_facets_only(
    principal: Principal, body: bytes, naming: Naming, event: Event | None = None
) -> bytes:
    """Return an event without the facets that describe datasets outside the key's namespaces, or
    the results of checks of them.

    `body` is redacted, and `event` the event parsed from it, if it is already parsed. Raises
    ForeignEventError if the body has such facets and cannot be rewritten.
    """
    if principal.writable.is_unrestricted:
        return body
    event = event or parse(body, received=0)
    foreign = [
        field
        for field, dataset in _datasets(event)
        if dataset is not event.dataset
        and (
            (dataset.facets or Facets()).keys() - _FACETS_OF_USE[field.partition(".")[0]]
            or _CHECK_FACETS & (dataset.input_facets or Facets()).keys()
            or _CHECK_FACETS & (dataset.output_facets or Facets()).keys()
        )
        and not _covers(principal, naming, dataset.namespace, dataset.name)
    ]
    if not foreign:
        return body
    try:
        content = decode(body)
        for side, kept in _FACETS_OF_USE.items():
            for dataset in content.get(side) or ():
                if not _covers(principal, naming, dataset.get("namespace"), dataset.get("name")):
                    facets = dataset.get("facets") or {}
                    dataset["facets"] = {
                        name: facet for name, facet in facets.items() if name in kept
                    }
                    for field in ("inputFacets", "outputFacets"):
                        facets = dataset.get(field) or {}
                        for name in _CHECK_FACETS & facets.keys():
                            del facets[name]
        return encode(content)
    except (EventError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise ForeignEventError(
            "the facets of a dataset that the key does not cover cannot be read",
            field=f"{foreign[0]}.facets",
        ) from error


def _covers(principal: Principal, naming: Naming, namespace: Any, name: Any) -> bool:
    """Return True if a key covers the namespace of a dataset."""
    if not isinstance(namespace, str):
        return False
    if isinstance(name, str) and name:
        namespace = naming.normalise(namespace, name).namespace
    return principal.writable.includes(namespace)


def _check_decisions(event: Event) -> None:
    """Check that an event holds no decision of a steward. Raises ForeignEventError."""
    for field, facets in _facets(event):
        decided = _DECISIONS & facets.keys() if facets else ()
        if decided:
            facet = min(decided)
            raise ForeignEventError(
                f"the facet {facet} needs a key with scope {Scope.STEWARD}",
                field=f"{field}.facets.{facet}",
            )


def _may_hold_edits(body: bytes) -> bool:
    """Return False if a body has no facet of edits, in any spelling of JSON."""
    return EDITS_FACET.encode() in body or b"\\u00" in body


def _check_author(principal: Principal, event: Event) -> None:
    """Check that an edit names no other author than its sender. Raises ForeignEventError."""
    for field, facets in _facets(event):
        raw = (facets or Facets()).get(EDITS_FACET)
        edits = salvage(EditsFacet, raw) if raw is not None else None
        if edits is not None and edits.by is not None and edits.by.name != principal.name:
            raise ForeignEventError(
                f"the key {principal.name!r} may not edit as {edits.by.name[:100]!r}",
                field=f"{field}.facets.{EDITS_FACET}.by.name",
            )


def _facets(event: Event) -> Iterator[tuple[str, Facets | None]]:
    """Find the facets of each dataset and of the job, with the path of their owner."""
    for field, dataset in _datasets(event):
        yield field, dataset.facets
    if event.job is not None:
        yield "job", event.job.facets


def _check_namespaces(
    principal: Principal, naming: Naming, named: Iterator[NameAtPath] | list[NameAtPath]
) -> None:
    for field, namespace, name in named:
        if not _covers(principal, naming, namespace, name):
            raise ForeignEventError(
                f"the key {principal.name!r} does not cover namespace {namespace!r}", field=field
            )


def _described(event: Event) -> Iterator[NameAtPath]:
    if event.job is not None:
        yield "job.namespace", event.job.namespace, ""
    if event.dataset is not None and ANSWER_FACET in (event.dataset.facets or {}):
        yield f"dataset.facets.{ANSWER_FACET}", ANSWER_NAMESPACE, ""
    elif event.dataset is not None and TAG_FACET in (event.dataset.facets or {}):
        yield f"dataset.facets.{TAG_FACET}", TAG_NAMESPACE, ""
    elif event.dataset is not None:
        yield "dataset.namespace", event.dataset.namespace, event.dataset.name


def _datasets(event: Event) -> Iterator[tuple[str, Dataset]]:
    if event.dataset is not None:
        yield "dataset", event.dataset
    for side, datasets in (("inputs", event.inputs), ("outputs", event.outputs)):
        for index, dataset in enumerate(datasets):
            yield f"{side}.{index}", dataset


def _read(field: str, facet: msgspec.Raw) -> Any:
    """Decode a facet. Raises ForeignEventError for malformed JSON, whose names are unknown."""
    try:
        return msgspec.json.decode(facet)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ForeignEventError("the names in this facet cannot be read", field=field) from error


def _names(field: str, value: Any) -> Iterator[NameAtPath]:
    """Find every name of a dataset in a facet, at any depth, with its path."""
    if isinstance(value, Mapping):
        if "namespace" in value:
            yield f"{field}.namespace", value["namespace"], value.get("name", "")
        for key, item in value.items():
            if key != "namespace":
                yield from _names(f"{field}.{key}", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _names(f"{field}.{index}", item)
