"""Registering an asset: the events it becomes, and the wait until the graph has them.

A registration is answered once it is on disk, like every event. Who asks at once should find it: the registrations of
this process that the graph does not show yet are remembered for a short while, and a question waits for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError, UnavailableError
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.assets import (
    AmbiguousError,
    asset_id,
    named,
    own_urn,
    upstream_urn,
)
from headwater.rest.operations import ArgumentError
from headwater.schema import headwater_facets as native
from headwater.schema.urns import URN_BYTES_MAX, job_urn, parse_urn

# An asset of one of these types is a process: what does something. Any other is data.
PROCESS_TYPES = frozenset({"dag", "spark_job", "job", "notebook", "pipeline", "script", "task"})

# A worker that has just started takes seconds for its first events.
WAIT_SECONDS_MAX = 5.0
# So long it is said of what is not in the graph yet that it will be, and not that it is unknown.
LATE_SECONDS = 300.0
WAITING_MAX = 10_000
_POLL_SECONDS = 0.02
_SETTLE_SECONDS = 0.03


class Upstream(msgspec.Struct):
    """An asset that another is made from. `known`: anything is known of it but its name."""

    id: str
    name: str
    known: bool


class Registration(msgspec.Struct, kw_only=True):
    """An asset with what it is made from, as names were understood."""

    name: str
    namespace: str
    asset_type: str
    source_ref: str
    upstream: dict[str, str]  # name as it was sent -> urn
    known: Mapping[str, bool]
    was_process: bool

    @property
    def urn(self) -> str:
        return own_urn(self.name, self.namespace)

    def events(self, event_time: str) -> list[native.Event]:
        """What is told to the spool."""
        return native.asset_events(
            self.name,
            asset_type=self.asset_type,
            source_ref=self.source_ref,
            namespace=self.namespace,
            upstream=[_halves(urn) for urn in self.upstream.values()],
            is_process=self.asset_type in PROCESS_TYPES,
            was_process=self.was_process,
            event_time=event_time,
        )

    def shown_upstream(self) -> list[Upstream]:
        return [
            Upstream(asset_id(urn), name, self.known.get(urn, False))
            for name, urn in self.upstream.items()
        ]


def understand(
    database: Database,
    *,
    name: str,
    namespace: str,
    asset_type: str,
    source_ref: str,
    upstream: Sequence[str],
) -> Registration:
    """What a registration means by its names. Raises ArgumentError that names the field.

    Without Neo4j nothing is known by name, and every upstream name is one of this namespace."""
    own = own_urn(name, namespace)
    _check_length(own, "name")
    known = _known(database, [name, *upstream])
    found: dict[str, str] = {}
    for index, one in enumerate(upstream):
        field = f"upstream_assets[{index}]"
        try:
            found[one] = _spelled_urn(one) or upstream_urn(one, known[one], namespace)
        except AmbiguousError as error:
            raise ArgumentError(error.message, field=field, hint=error.hint) from error
        _check_length(found[one], field)
        if found[one] == own:
            raise ArgumentError("an asset is not made from itself", field=field)
    return Registration(
        name=name,
        namespace=namespace,
        asset_type=asset_type,
        source_ref=source_ref,
        upstream=found,
        known={urn: is_told for urns in known.values() for urn, is_told in urns.items()},
        was_process=_is_job(database, job_urn(*parse_urn(own).parts)),
    )


def _known(database: Database, names: Sequence[str]) -> dict[str, dict[str, bool]]:
    """What is known by each of these names; for one that is a urn, of that dataset."""
    spelled = {one: urn for one in names if (urn := _spelled_urn(one))}
    try:
        known = named(database, names)
        rows = read_nodes(database, spelled.values())
    except UnavailableError:
        return {one: {} for one in names}
    by_urn = {
        one: {urn: rows[urn].get("firstSeen") is not None}
        for one, urn in spelled.items()
        if urn in rows
    }
    return {**known, **by_urn}


def _spelled_urn(text: str) -> str | None:
    """The urn of a dataset that is named by its urn; None for any other text."""
    try:
        kind, parts = parse_urn(text)
    except QueryError:
        return None
    return own_urn(parts[1], parts[0]) if kind == "dataset" and parts else None


def _check_length(urn: str, field: str) -> None:
    """Names that are too long for a urn to spell have no way back from it."""
    if not parse_urn(urn).parts:
        raise ArgumentError(
            "it is too long", field=field, hint=f"Its urn may have {URN_BYTES_MAX} bytes."
        )


def _is_job(database: Database, urn: str) -> bool:
    try:
        return bool(database.read("read/nodes/properties", urns=[urn]))
    except UnavailableError:
        return False


def _halves(urn: str) -> dict[str, str]:
    namespace, name = parse_urn(urn).parts
    return {"namespace": namespace, "name": name}


class _Pending(NamedTuple):
    """One registration: it is waited for, and then remembered, until these readings of time.monotonic()."""

    at: datetime
    wait_until: float
    until: float


class Waiting:
    """The registrations that the graph does not show yet, by urn, with the time of their events."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: dict[str, _Pending] = {}

    def add(self, urn: str, event_time: str) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._at) < WAITING_MAX:
                self._at[urn] = _Pending(
                    datetime.fromisoformat(event_time), now + WAIT_SECONDS_MAX, now + LATE_SECONDS
                )

    def settle(self, database: Database) -> None:
        """Wait until the graph shows what was registered here before, or until that has had its time."""
        while pending := self._pending():
            self._forget(_shown(database, pending))
            if not self._pending():
                # Neo4j shows a commit piece by piece: a node may be found before the edges beside it.
                time.sleep(_SETTLE_SECONDS)
                return
            time.sleep(_POLL_SECONDS)

    def is_late(self, database: Database, reference: str) -> bool:
        """Whether this is an asset that was registered here and is not in the graph though it had its time."""
        now = time.monotonic()
        with self._lock:
            self._at = {urn: one for urn, one in self._at.items() if one.until > now}
            waiting = list(self._at)
        return any(
            reference in (urn, asset_id(urn))
            and database.visibility.includes(parse_urn(urn).parts[0])
            for urn in waiting
            if parse_urn(urn).parts
        )

    def _pending(self) -> dict[str, datetime]:
        now = time.monotonic()
        with self._lock:
            return {urn: one.at for urn, one in self._at.items() if one.wait_until > now}

    def _forget(self, shown: Mapping[str, datetime]) -> None:
        with self._lock:
            for urn, at in shown.items():
                if urn in self._at and self._at[urn].at <= at:
                    del self._at[urn]


def _shown(database: Database, pending: Mapping[str, datetime]) -> dict[str, datetime]:
    """Those that the graph shows as of their time or later. Whether they may be seen does not matter here."""
    rows = database.read("read/nodes/properties", urns=sorted(pending))
    seen = {row["urn"]: row["properties"].get("lastSeen") for row in rows}
    return {urn: at for urn, at in seen.items() if at is not None and at >= pending[urn]}
