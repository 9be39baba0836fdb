"""The registration of an asset: its events, and the wait until the graph has them.

The API answers a registration once its events are on disk, as for every event. A client that reads
at once should find the asset. So this process remembers for a short time the registrations that the
graph does not have yet, and reads wait for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

import msgspec

from headwater.code_analysis.repository_files import RepositoryCode
from headwater.errors import AmbiguousError, QueryError, UnavailableError
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.assets import (
    asset_id,
    assets_by_name,
    registered_urn,
    resolve_upstream,
)
from headwater.lineage.view import GraphView
from headwater.rest.operations import ArgumentError
from headwater.schema import headwater_facets as native
from headwater.schema.urns import URN_BYTES_MAX, job_urn, parse_urn

# Assets of these types are processes (jobs). All others are data, unless their code is known.
PROCESS_TYPES = frozenset({"dag", "spark_job", "job", "notebook", "pipeline", "script", "task"})

# A worker that has just started takes seconds for its first events.
WAIT_SECONDS_MAX = 5.0
# For so long the answer for a registration that the graph does not have is 503 instead of 404.
LATE_SECONDS = 300.0
PENDING_MAX = 10_000
_POLL_SECONDS = 0.02
_SETTLE_SECONDS = 0.03


class Upstream(msgspec.Struct):
    """An upstream asset. `known`: the graph has more of it than its name."""

    id: str
    name: str
    known: bool


class Registration(msgspec.Struct, kw_only=True):
    """An asset with its upstream assets, its names resolved to urns."""

    name: str
    namespace: str
    asset_type: str
    source_ref: str
    upstream: dict[str, str]  # name as it was sent -> urn
    known: Mapping[str, bool]
    was_process: bool
    code: RepositoryCode | None = None

    @property
    def urn(self) -> str:
        """Return the urn of the asset's dataset."""
        return registered_urn(self.name, self.namespace)

    def events(self, event_time: str) -> list[native.Event]:
        """Return the events of this registration."""
        return native.asset_events(
            self.name,
            asset_type=self.asset_type,
            source_ref=self.source_ref,
            namespace=self.namespace,
            upstream=[_namespace_and_name(urn) for urn in self.upstream.values()],
            is_process=self.asset_type in PROCESS_TYPES or self.code is not None,
            was_process=self.was_process,
            code=(self.code.language, self.code.text) if self.code else None,
            event_time=event_time,
        )

    def shown_upstream(self) -> list[Upstream]:
        """Return the upstream assets as the API shows them."""
        return [
            Upstream(asset_id(urn), name, self.known.get(urn, False))
            for name, urn in self.upstream.items()
        ]


def resolve_registration(
    view: GraphView,
    *,
    name: str,
    namespace: str,
    asset_type: str,
    source_ref: str,
    upstream: Sequence[str],
    code: RepositoryCode | None = None,
) -> Registration:
    """Resolve the names of a registration to urns.

    While Neo4j is unavailable, every upstream name is one of the asset's own namespace. Raises
    ArgumentError that names the field.
    """
    own = registered_urn(name, namespace)
    _check_length(own, "name")
    known = _known(view, [name, *upstream])
    urns_by_name: dict[str, str] = {}
    for index, upstream_name in enumerate(upstream):
        field = f"upstream_assets[{index}]"
        try:
            urns_by_name[upstream_name] = _parse_dataset_urn(upstream_name) or resolve_upstream(
                upstream_name, known[upstream_name], namespace
            )
        except AmbiguousError as error:
            raise ArgumentError(error.message, field=field, hint=error.hint) from error
        _check_length(urns_by_name[upstream_name], field)
        if urns_by_name[upstream_name] == own:
            raise ArgumentError("an asset cannot be its own upstream asset", field=field)
    return Registration(
        name=name,
        namespace=namespace,
        asset_type=asset_type,
        source_ref=source_ref,
        upstream=urns_by_name,
        known=dict(chain.from_iterable(urns.items() for urns in known.values())),
        was_process=_is_job(view, job_urn(*parse_urn(own).parts)),
        code=code,
    )


def _known(view: GraphView, names: Sequence[str]) -> dict[str, dict[str, bool]]:
    """Map each name, or urn of a dataset, to its urns, with True if the graph has their facts."""
    by_name = {name: urn for name in names if (urn := _parse_dataset_urn(name))}
    try:
        known = assets_by_name(view, names)
        rows = read_nodes(view, by_name.values())
    except UnavailableError:
        return {name: {} for name in names}
    by_urn = {
        name: {urn: rows[urn].get("firstSeen") is not None}
        for name, urn in by_name.items()
        if urn in rows
    }
    return {**known, **by_urn}


def _parse_dataset_urn(text: str) -> str | None:
    """Return the canonical urn if the text is the urn of a dataset, else None."""
    try:
        kind, parts = parse_urn(text)
    except QueryError:
        return None
    return registered_urn(parts[1], parts[0]) if kind == "dataset" and parts else None


def _check_length(urn: str, field: str) -> None:
    """Raise ArgumentError for a name whose urn would be a hash, from which no name can be read."""
    if not parse_urn(urn).parts:
        raise ArgumentError(
            f"the name is too long: its urn may have {URN_BYTES_MAX} bytes",
            field=field,
            hint="Choose a shorter name or namespace.",
        )


def _is_job(view: GraphView, urn: str) -> bool:
    try:
        return bool(view.read("read/nodes/properties", urns=[urn]))
    except UnavailableError:
        return False


def _namespace_and_name(urn: str) -> dict[str, str]:
    namespace, name = parse_urn(urn).parts
    return {"namespace": namespace, "name": name}


class _Pending(NamedTuple):
    """A registration with the time of its events.

    Reads wait for it until `wait_until`, and it is remembered until `forget_at`, both readings of
    time.monotonic().
    """

    event_time: datetime
    wait_until: float
    forget_at: float


class PendingRegistrations:
    """The registrations of this process that the graph does not have yet, by urn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_urn: dict[str, _Pending] = {}

    def add(self, urn: str, event_time: str) -> None:
        """Remember a registration."""
        now = time.monotonic()
        with self._lock:
            if len(self._by_urn) < PENDING_MAX:
                self._by_urn[urn] = _Pending(
                    datetime.fromisoformat(event_time), now + WAIT_SECONDS_MAX, now + LATE_SECONDS
                )

    def wait(self, view: GraphView) -> None:
        """Wait until the graph has what the caller sees of the registrations that are pending now,
        or until their time is over.

        What is registered meanwhile is not waited for, so that a wait ends.
        """
        began = time.monotonic()
        waited_for = {
            urn: entry.event_time
            for urn, entry in self._visible(view).items()
            if entry.wait_until > began
        }
        while waited_for and time.monotonic() < began + WAIT_SECONDS_MAX:
            last_seen_times = _in_graph(view, waited_for)
            self._forget(last_seen_times)
            waited_for = {urn: at for urn, at in waited_for.items() if urn not in last_seen_times}
            # Neo4j shows a commit piece by piece: a node may be visible before its edges.
            time.sleep(_POLL_SECONDS if waited_for else _SETTLE_SECONDS)

    def is_late(self, view: GraphView, reference: str) -> bool:
        """Return True if `reference` is a visible asset, registered here, and still pending."""
        return any(reference in (urn, asset_id(urn)) for urn in self._visible(view))

    def _visible(self, view: GraphView) -> dict[str, _Pending]:
        """Return the registrations that are remembered and that the caller sees."""
        now = time.monotonic()
        with self._lock:
            self._by_urn = {
                urn: entry for urn, entry in self._by_urn.items() if entry.forget_at > now
            }
            entries = list(self._by_urn.items())
        return {
            urn: entry
            for urn, entry in entries
            if (parts := parse_urn(urn).parts) and view.visibility.includes(parts[0])
        }

    def _forget(self, last_seen_times: Mapping[str, datetime]) -> None:
        with self._lock:
            for urn, last_seen in last_seen_times.items():
                if urn in self._by_urn and self._by_urn[urn].event_time <= last_seen:
                    del self._by_urn[urn]


def _in_graph(view: GraphView, pending: Mapping[str, datetime]) -> dict[str, datetime]:
    """Return the pending urns that the graph has with their events, visible or not.

    The events of an alias are those of its dataset.
    """
    rows = view.read("read/nodes/canonical_datasets", urns=sorted(pending))
    aliased = {row["urn"]: row["canonical"] for row in rows}
    urns = {aliased.get(urn, urn) for urn in pending}
    rows = view.read("read/nodes/properties", urns=sorted(urns))
    last_seen_times = {row["urn"]: row["properties"].get("lastSeen") for row in rows}
    return {
        urn: last_seen
        for urn, event_time in pending.items()
        if (last_seen := last_seen_times.get(aliased.get(urn, urn))) and last_seen >= event_time
    }
