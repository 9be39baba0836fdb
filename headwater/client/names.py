"""Nodes by the names that people give: a urn, an id, or a name that only one node has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.client.backend import Backend
from headwater.errors import AmbiguousError, NotFoundError, QueryError
from headwater.schema.urns import parse_urn

# The kinds of nodes that have names of their own.
NAMED = ("DATASET", "JOB", "ANSWER", "PIPELINE_RUN")
SHOWN_MAX = 20


def resolve(backend: Backend, text: str, kinds: Sequence[str] = NAMED) -> str:
    """Return the urn of the one node that a text names; a urn is returned as it is.

    Raises NotFoundError if no node of these kinds has the name, AmbiguousError if several do.
    """
    return text if _is_urn(text) else str(find_node(backend, text, kinds)["urn"])


def answer_id_of(backend: Backend, text: str) -> str:
    """Return the id of the one answer that a text names: by its id, the end of it, or its urn."""
    if _is_urn(text):
        kind, parts = parse_urn(text)
        if kind != "answer":
            raise QueryError(
                f"{text!r} is the urn of a {kind}; a trace begins at an answer",
                hint="A lineage goes upstream from any node.",
            )
        if parts:
            return parts[0]
    return str(find_node(backend, text, ("ANSWER",))["name"])


def find_node(backend: Backend, text: str, kinds: Sequence[str]) -> dict[str, Any]:
    """Return the one node of these kinds that a text names. Raises as `resolve` does."""
    found = backend.ask("nodes_by_name", name=text, kinds=list(kinds), first=SHOWN_MAX + 1)
    nodes = found["nodesByName"] or []
    words = _listed([kind.lower().replace("pipeline_", "") for kind in kinds])
    if not nodes:
        raise _not_found(backend, text, words)
    if len(nodes) == 1:
        return dict(nodes[0])
    shown = [f"  {node['urn']}" for node in nodes[:SHOWN_MAX]]
    more = ["  and more"] if len(nodes) > SHOWN_MAX else []
    raise AmbiguousError(
        "\n".join([f"several nodes have the name {text!r}:", *shown, *more]),
        hint="Give one of these urns.",
    )


def _not_found(backend: Backend, text: str, words: str) -> NotFoundError:
    """Return the error for a name that no node of the kinds has; it lists those of other kinds."""
    found = backend.ask("nodes_by_name", name=text, kinds=list(NAMED), first=SHOWN_MAX)
    others = [f"  {node['urn']}" for node in found["nodesByName"] or []]
    if not others:
        hint = "Search for a part of the name: `headwater search TEXT`."
        return NotFoundError(f"no {words} has the name {text!r}", hint=hint)
    return NotFoundError(
        "\n".join([f"no {words} has the name {text!r}; other nodes have it:", *others]),
        hint="A lineage goes upstream and downstream from any of these urns.",
    )


def _is_urn(text: str) -> bool:
    try:
        parse_urn(text)
    except QueryError:
        return False
    return True


def _listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
