"""Questions of Airflow tasks to Headwater: open findings, changed schemas, fresh data."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from airflow.sdk import BaseHook, Connection

from headwater.client.address import find_address
from headwater.client.client import Client

SCHEMA_DRIFT = "schema-drift"
TIERS = ("P1", "P2", "P3")
_PAGE = 200
_PAGES_MAX = 50
_FINDINGS = """query Findings(
  $open: Boolean, $rule: String, $urn: ID, $first: Int, $after: String
) {
  findings(open: $open, rule: $rule, urn: $urn, first: $first, after: $after) {
    edges { node { id rule severity urn firstSeen resolvedAt evidence } }
    pageInfo { hasNextPage endCursor } } }"""


@dataclass(frozen=True)
class Found:
    """A finding, as tasks pass it on: every value is JSON."""

    id: str
    rule: str
    severity: str
    urn: str
    first_seen: str
    evidence: Any

    def __str__(self) -> str:
        return f"{self.severity} {self.rule} on {self.urn} since {self.first_seen}"

    def as_json(self) -> dict[str, Any]:
        """Return the finding for an XCom or the payload of an event."""
        return asdict(self)


def client_of(conn_id: str | None, url: str | None) -> Client:
    """Return a client; see `headwater.client.Client` for its search without `conn_id` and `url`.

    Args:
        conn_id: An Airflow connection: its host is the address, its password the API key.
        url: The address, with the key of HEADWATER_API_KEY or of the profile.
    """
    return Client(url) if conn_id is None else _client_at(BaseHook.get_connection(conn_id))


def address_of(conn_id: str | None, url: str | None) -> tuple[str, str]:
    """Return the address and the API key that `client_of` uses."""
    if conn_id is None:
        found = find_address(url, None, None, os.environ, prefix="")
        return found.url, found.api_key
    connection = BaseHook.get_connection(conn_id)
    return _client_at(connection).url, connection.password or ""


async def async_client_of(conn_id: str | None, url: str | None) -> Client:
    """Return a client in a triggerer, where connections must be awaited."""
    return Client(url) if conn_id is None else _client_at(await Connection.async_get(conn_id))


def _client_at(connection: Any) -> Client:
    host = connection.host or ""
    scheme = connection.schema or "http"
    port = f":{connection.port}" if connection.port else ""
    address = host if "://" in host else f"{scheme}://{host}"
    return Client(f"{address}{port}", api_key=connection.password or "")


def findings(
    client: Client, *, rule: str | None = None, urn: str | None = None, is_open: bool | None
) -> Iterator[Found]:
    """Yield findings, newest evidence first.

    Args:
        client: The API.
        rule: The name of a rule; None for all.
        urn: The node; None for all.
        is_open: True for open findings, False for resolved ones, None for both.
    """
    after = None
    for _ in range(_PAGES_MAX):
        variables = {
            "open": is_open,
            "rule": rule,
            "urn": urn,
            "first": _PAGE,
            "after": after,
        }
        page = client.graphql(_FINDINGS, variables)["findings"]
        for edge in page["edges"]:
            node = edge["node"]
            yield Found(
                id=node["id"],
                rule=node["rule"],
                severity=node["severity"],
                urn=node["urn"],
                first_seen=node["firstSeen"],
                evidence=node["evidence"],
            )
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


def urns_of(client: Client, nodes: Collection[str]) -> list[str]:
    """Return the urns of nodes, given by name or urn."""
    return sorted({client.resolve(node) for node in nodes})


def open_findings(
    client: Client,
    *,
    nodes: Collection[str] = (),
    rules: Collection[str] = (),
    tiers: Collection[str] = TIERS,
) -> list[Found]:
    """Return the open findings of these nodes, rules and tiers, the most urgent first.

    Args:
        client: The API.
        nodes: Names or urns; none means every node.
        rules: Names of rules; none means every rule.
        tiers: P1, P2, P3.
    """
    urns: list[str | None] = [*urns_of(client, nodes)] if nodes else [None]
    found = chain.from_iterable(findings(client, urn=urn, is_open=True) for urn in urns)
    chosen = [one for one in found if one.severity in tiers and (not rules or one.rule in rules)]
    return sorted(chosen, key=lambda one: (one.severity, one.first_seen, one.id))


def schema_changes(client: Client, datasets: Collection[str], since: datetime) -> list[Found]:
    """Return the schema changes that broke readers of these datasets, oldest first.

    Args:
        client: The API.
        datasets: Names or urns.
        since: Changes before this time do not count.
    """
    found = chain.from_iterable(
        findings(client, rule=SCHEMA_DRIFT, urn=urn, is_open=None)
        for urn in urns_of(client, datasets)
    )
    recent = [one for one in found if datetime.fromisoformat(one.first_seen) >= since]
    return sorted(recent, key=lambda one: (one.first_seen, one.id))
