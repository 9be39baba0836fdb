"""The versions of contracts that the graph has, so that an import sends none of them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from headwater.client.backend import Backend
from headwater.schema.naming import normalise

PAGE = 100
# The number of a version, and the digest of its content.
Version = tuple[str, str | None]


class KnownContracts:
    """Reads the versions of contracts, each contract once.

    open: opens the backend; None for an import that sends nothing, to which none is known.
    """

    def __init__(self, open: Callable[[], AbstractContextManager[Backend]] | None) -> None:
        self._open = open
        self._found: dict[str, list[dict[str, Any]]] = {}

    def versions_of(self, contract: str, namespace: str, name: str) -> set[Version]:
        """Return the versions of a contract about a dataset."""
        named = normalise(namespace, name)
        versions: set[Version] = set()
        for other in self._contracts(contract):
            dataset = other["dataset"]
            if (dataset["namespace"], dataset["name"]) == (named.namespace, named.name):
                versions.update((one["version"], one["digest"]) for one in other["versions"])
        return versions

    def _contracts(self, contract: str) -> list[dict[str, Any]]:
        if self._open is None:
            return []
        if contract not in self._found:
            with self._open() as backend:
                self._found[contract] = list(contract_pages(backend, contractId=contract))
        return self._found[contract]


def contract_pages(backend: Backend, **filter: Any) -> Iterator[dict[str, Any]]:
    """Yield the contracts of the graph, page by page."""
    after: str | None = None
    while True:
        found = backend.ask("contracts", first=PAGE, after=after, **filter)["contracts"]
        yield from found["nodes"]
        if not found["pageInfo"]["hasNextPage"]:
            return
        after = found["pageInfo"]["endCursor"]
