"""Urns: the stable key of every node, derived only from its identity.

A urn is a kind and its parts, joined by `:`; every part is percent-encoded (RFC 3986) but for `/`,
which stays readable, so that any namespace or name comes back exactly:

    dataset:s3%3A//lake:flights/clean      job:spark:flights.clean
    column:file:/raw/planes:tailnum run:0198c2f4-...                       answer:worst-carrier-2013
    artifact:file:/marts/delay:0198c2f4-...

The version that an earlier attempt of a run made has the instant at which that attempt ended as a
fourth part.

Neo4j's range index refuses keys over about 8 kB. A urn that would be longer than `URN_BYTES_MAX`
becomes its kind, `#` and a SHA-256: still the same for the same node. A run id of more than 65,536
characters stands in urns by its SHA-256. So that names may be indexed too, a node shows one longer
than `DISPLAY_BYTES_MAX` by its beginning and its hash; its `facts` keep it in full. A column has no
facts, so its urn has its field as its node shows it.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from headwater.errors import QueryError

URN_BYTES_MAX = 2_000
DISPLAY_BYTES_MAX = 4_000
_SHOWN_CHARACTERS = 500
_RUN_ID_CHARACTERS_MAX = 65_536
_GUIDS = uuid.UUID("6f1c1a52-0a55-5f0e-9f8e-6d1f3c0a7b41")
_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII
)

_SHARED = re.compile(r"~[0-9a-f]{16}\Z")

# The names of the parts of each kind, in order.
KINDS: dict[str, tuple[str, ...]] = {
    "dataset": ("namespace", "name"),
    "job": ("namespace", "name"),
    "run": ("runId",),
    "source": ("namespace", "name"),
    "artifact": ("namespace", "name", "runId"),
    "answer": ("answerId",),
    "column": ("namespace", "name", "field"),
    "schema": ("hash",),
}


class Urn(NamedTuple):
    """A parsed urn; `parts` is empty for a hashed one."""

    kind: str
    parts: tuple[str, ...]


def _urn(kind: str, *parts: str) -> str:
    urn = ":".join((kind, *(_quoted(part) for part in parts)))
    if len(urn) <= URN_BYTES_MAX:
        return urn
    return f"{kind}:#{hashlib.sha256(urn.encode()).hexdigest()}"


_urn_cached = lru_cache(maxsize=65_536)(_urn)
# Longer names are rare, and would fill the cache.
_CACHED_CHARACTERS_MAX = 300


def _cached_urn(kind: str, first: str, second: str, *more: str) -> str:
    """Return the urn of a repeated thing (a dataset, a job, a finding), from a cache."""
    if len(first) + len(second) > _CACHED_CHARACTERS_MAX:
        return _long_urn(kind, first, second, *more)
    return _urn_cached(kind, first, second, *more)


class _Beginning(NamedTuple):
    """The first parts of long urns: the number of their characters, and their hash."""

    length: int
    hash: Any


@lru_cache(maxsize=8)
def _beginning(kind: str, *parts: str) -> _Beginning:
    text = ":".join((kind, *(_quoted(part) for part in parts)))
    return _Beginning(len(text), hashlib.sha256(text.encode()))


def _long_urn(kind: str, first: str, second: str, *more: str) -> str:
    """Return a urn, in a time that does not depend on the first parts if they repeat.

    A dataset with a name of a megabyte may have a hundred thousand columns.
    """
    beginning = _beginning(kind, first, second)
    end = "".join(f":{_quoted(part)}" for part in more)
    if beginning.length + len(end) <= URN_BYTES_MAX:
        return _urn(kind, first, second, *more)
    digest = beginning.hash.copy()
    digest.update(end.encode())
    return f"{kind}:#{digest.hexdigest()}"


@lru_cache(maxsize=8)
def _long_quoted(part: str) -> str:
    return quote(part, safe="/")


def _quoted(part: str) -> str:
    return _long_quoted(part) if len(part) > _CACHED_CHARACTERS_MAX else quote(part, safe="/")


def canonical_run_id(run_id: str) -> str:
    """Return a UUID in lower case with dashes; any other id as sent."""
    return run_id.lower() if is_uuid(run_id) else run_id


def reported_run_id(run_id: str) -> str:
    """Return the canonical form of a run id in an event.

    No event can name a run by an id of `shared_run_id`.
    """
    return f"{run_id}~" if _SHARED.search(run_id) else canonical_run_id(run_id)


def shared_run_id(run_id: str, sender: str) -> str:
    """Return the id of another sender's run that has the same id (`RunFacts.sender`)."""
    return f"{run_id}~{hashlib.sha256(sender.encode()).hexdigest()[:16]}"


def is_uuid(run_id: str) -> bool:
    """Return True for a UUID as RFC 9562 writes it.

    Python also accepts braces, underscores and dashes anywhere, so different ids would become one
    run.
    """
    return _UUID.fullmatch(run_id) is not None


def display_name(text: str) -> str:
    """Return a name as a node has it: whole, unless it is too long for an index."""
    if len(text) * 4 <= DISPLAY_BYTES_MAX:
        return text
    if len(text) <= DISPLAY_BYTES_MAX and len(text.encode()) <= DISPLAY_BYTES_MAX:
        return text
    return _shortened(text)


# The columns of a dataset have its name, and the versions of a run its id.
@lru_cache(maxsize=8)
def _shortened(text: str) -> str:
    return f"{text[:_SHOWN_CHARACTERS]}…{hashlib.sha256(text.encode()).hexdigest()}"


def dataset_urn(namespace: str, name: str) -> str:
    return _cached_urn("dataset", namespace, name)


def job_urn(namespace: str, name: str) -> str:
    return _cached_urn("job", namespace, name)


def run_urn(run_id: str) -> str:
    # A UUID needs no encoding.
    return f"run:{run_id.lower()}" if is_uuid(run_id) else _urn("run", _id_in_urn(run_id))


def _id_in_urn(run_id: str) -> str:
    """Return a run id, or its hash if it is so long that each urn of a version costs time."""
    return run_id if len(run_id) <= _RUN_ID_CHARACTERS_MAX else _hashed_id(run_id)


@lru_cache(maxsize=8)
def _hashed_id(run_id: str) -> str:
    return f"#{hashlib.sha256(run_id.encode()).hexdigest()}"


def source_urn(namespace: str, name: str) -> str:
    return _cached_urn("source", namespace, name)


def artifact_urn(namespace: str, name: str, run_id: str, ended: int | None = None) -> str:
    """Return the urn of the version that a run made.

    `ended` (microseconds since 1970, UTC) identifies an earlier attempt of a run that started
    again.
    """
    attempt = "" if ended is None else f":{ended}"
    run_id = _id_in_urn(run_id)
    run = run_id.lower() if is_uuid(run_id) else _quoted(run_id)
    dataset = _cached_urn("artifact", namespace, name)
    if len(dataset) + 1 + len(run) + len(attempt) <= URN_BYTES_MAX:
        return f"{dataset}:{run}{attempt}"
    return _long_urn("artifact", namespace, name, canonical_run_id(run_id), *attempt[1:].split())


def answer_urn(answer_id: str) -> str:
    return _urn("answer", answer_id)


def tag_urn(name: str) -> str:
    return _urn("tag", name)


def column_urn(namespace: str, name: str, field: str) -> str:
    """Return the urn of a column: a function of the name that its node shows."""
    return _cached_urn("column", namespace, name, display_name(field))


def schema_hash(fields: str) -> str:
    """Return the key of a schema: half of the SHA-256 of its fields and types as JSON."""
    return hashlib.sha256(fields.encode()).hexdigest()[:32]


def schema_urn(hash: str) -> str:
    return _urn_cached("schema", hash)


def receipt_urn(digest: str) -> str:
    return f"receipt:{digest}"


def guid_of(urn: str) -> str:
    """Return the UUID (version 5) of a urn, for Atlas clients; a urn always has the same one."""
    return str(uuid.uuid5(_GUIDS, urn))


def producer_urn(producer: str) -> str:
    return (_urn_cached if len(producer) <= _CACHED_CHARACTERS_MAX else _urn)("producer", producer)


def finding_urn(producer: str, rule: str, field: str) -> str:
    return _cached_urn("finding", producer, rule, field)


def is_hashed(urn: str) -> bool:
    """Return True if a hash stands for the names in a urn."""
    return ":#" in urn


def parse_urn(urn: str) -> Urn:
    """Parse a urn.

    Raises QueryError for an unknown kind or a wrong number of parts.
    """
    kind, _, rest = urn.partition(":")
    names = KINDS.get(kind)
    if names is None:
        raise QueryError(
            f"{urn!r} is not a urn: it must start with one of {', '.join(KINDS)}",
            hint="Write for example dataset:<namespace>:<name>, each part percent-encoded.",
        )
    if is_hashed(urn):
        return Urn(kind, ())
    parts = tuple(unquote(part) for part in rest.split(":"))
    is_earlier = kind == "artifact" and len(parts) == len(names) + 1
    if (len(parts) != len(names) and not is_earlier) or not all(parts):
        shape = ":".join(f"<{name}>" for name in names)
        raise QueryError(
            f"{urn!r} is not a {kind} urn",
            hint=f"A {kind} urn is {kind}:{shape}, each part percent-encoded (':' is %3A).",
        )
    return Urn(kind, parts)
