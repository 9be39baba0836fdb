"""The state of the policies of a server: a check of `/readyz`, and metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.governance.policies.store import PolicyState, PolicyStore


def check_policies(state: PolicyState) -> dict[str, Any]:
    """Return whether all files of policies can be used; without their names, as anybody asks."""
    if not state.broken:
        return {"ok": True, "policies": len(state.policies.policies)}
    return {
        "ok": False,
        "reason": f"files of policies that cannot be used: {len(state.broken)}",
        "hint": "The log has policies_broken with the reasons, and so has GraphQL "
        "{ policies { error } }.",
    }


class PolicyMetrics(Collector):
    """The number of policies in force, and of files that cannot be used."""

    def __init__(self, store: PolicyStore) -> None:
        """Create a collector of the policies of a store."""
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges; a server without a directory of policies has none."""
        state = self._store.read()
        if not state.directory:
            return
        yield GaugeMetricFamily(
            "headwater_policies", "Policies in force.", value=len(state.policies.policies)
        )
        yield GaugeMetricFamily(
            "headwater_policies_broken_files",
            "Files of policies that cannot be used.",
            value=len(state.broken),
        )
