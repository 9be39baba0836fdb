"""Urns: the stable key of every node, derived only from what the node is.

A urn is a kind and its parts, joined by `:`; every part is percent-encoded (RFC 3986) but for `/`, which stays
readable, so that any namespace or name comes back exactly:

    dataset:s3%3A//lake:flights/clean      job:spark:flights.clean      column:file:/raw/planes:tailnum
    run:0198c2f4-...                       answer:worst-carrier-2013    artifact:file:/marts/delay:0198c2f4-...

Neo4j's range index refuses keys over about 8 kB. A urn that would be longer than `URN_BYTES_MAX` becomes its
kind, `#` and a SHA-256: still the same for the same node; the node itself keeps namespace and name in full.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple
from urllib.parse import quote, unquote
from uuid import UUID

from headwater.errors import QueryError

URN_BYTES_MAX = 2_000

# kind -> what its parts are called, in order
KINDS: dict[str, tuple[str, ...]] = {
    "dataset": ("namespace", "name"),
    "job": ("namespace", "name"),
    "run": ("runId",),
    "source": ("namespace", "name"),
    "artifact": ("namespace", "name", "runId"),
    "answer": ("answerId",),
    "column": ("namespace", "name", "field"),
}


class Urn(NamedTuple):
    """A urn taken apart; `parts` is empty for a hashed one."""

    kind: str
    parts: tuple[str, ...]


def _urn(kind: str, *parts: str) -> str:
    urn = ":".join((kind, *(quote(part, safe="/") for part in parts)))
    if len(urn) <= URN_BYTES_MAX:
        return urn
    return f"{kind}:#{hashlib.sha256(urn.encode()).hexdigest()}"


def canonical_run_id(run_id: str) -> str:
    """One spelling per run: a UUID in lower case with dashes; any other id as it was sent."""
    try:
        return str(UUID(run_id)) if len(run_id) == 36 else run_id
    except ValueError:
        return run_id


def dataset_urn(namespace: str, name: str) -> str:
    return _urn("dataset", namespace, name)


def job_urn(namespace: str, name: str) -> str:
    return _urn("job", namespace, name)


def run_urn(run_id: str) -> str:
    return _urn("run", canonical_run_id(run_id))


def source_urn(namespace: str, name: str) -> str:
    return _urn("source", namespace, name)


def artifact_urn(namespace: str, name: str, run_id: str) -> str:
    return _urn("artifact", namespace, name, canonical_run_id(run_id))


def answer_urn(answer_id: str) -> str:
    return _urn("answer", answer_id)


def column_urn(namespace: str, name: str, field: str) -> str:
    return _urn("column", namespace, name, field)


def parse_urn(urn: str) -> Urn:
    """Take a urn apart.

    Raises QueryError when it has no known kind or the wrong number of parts.
    """
    kind, _, rest = urn.partition(":")
    names = KINDS.get(kind)
    if names is None:
        raise QueryError(
            f"{urn!r} is not a urn: it starts with none of {', '.join(KINDS)}",
            mend="Write for example dataset:<namespace>:<name>, each part percent-encoded.",
        )
    if rest.startswith("#"):
        return Urn(kind, ())
    parts = tuple(unquote(part) for part in rest.split(":"))
    if len(parts) != len(names) or not all(parts):
        shape = ":".join(f"<{name}>" for name in names)
        raise QueryError(
            f"{urn!r} is not a {kind} urn",
            mend=f"A {kind} urn is {kind}:{shape}, each part percent-encoded (':' is %3A).",
        )
    return Urn(kind, parts)
