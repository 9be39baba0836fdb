"""The questions about the whole estate and about repair."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from headwater.client import estate_results as results
from headwater.client.arguments import NodeName, Time, iso, text_of_node
from headwater.client.lists import Lists
from headwater.client.names import resolve
from headwater.client.pages import Pages
from headwater.errors import QueryError, UnavailableError
from headwater.schema.urns import parse_urn

DAYS = 30
DEPTH = 10
_PAGE_SIZE = 200
T = TypeVar("T", bound=msgspec.Struct)


class Estate(Lists):
    """The questions about all datasets and jobs of one Headwater API, and about repair."""

    def usage(self, dataset: NodeName, *, days: int = DAYS) -> results.Usage:
        """Return the readers of a dataset and their cost, by job and by owner.

        Args:
            dataset: The dataset.
            days: Length of the window, in days up to now.

        Returns:
            The consumers, and the answers that cite the dataset.
        """
        urn = resolve(self._backend, text_of_node(dataset), ("DATASET",))
        consumers: list[dict[str, Any]] = []
        after = None
        while True:
            answer = self._backend.ask("usage", urn=urn, days=days, first=_PAGE_SIZE, after=after)
            found = answer["usage"]
            consumers += [edge["node"] for edge in found["consumers"]["edges"]]
            page = found["consumers"]["pageInfo"]
            if not page["hasNextPage"]:
                break
            after = page["endCursor"]
        content = {**found, "dataset": answer["dataset"]["urn"], "consumers": consumers}
        return self._convert(content, results.Usage)

    def owners(self, *, limit: int | None = None) -> Pages[results.Owner]:
        """Return the owners with the number of their datasets and jobs.

        Args:
            limit: Maximum number of owners.

        Returns:
            The owners, read page by page.
        """
        return self._pages("owners", results.Owner, ("name", "datasets", "jobs"), limit)

    def unused(
        self, *, days: int = DAYS, namespace: str = "", limit: int | None = None
    ) -> Pages[results.UnusedDataset]:
        """Return the datasets without recent reads, the largest first.

        Args:
            days: Length of the window without reads, in days up to now.
            namespace: Only datasets of this namespace.
            limit: Maximum number of datasets.

        Returns:
            The datasets, read page by page.
        """
        columns = ("dataset", "bytes", "last_read_at")
        return self._pages(
            "unused", results.UnusedDataset, columns, limit, days=days, namespace=namespace
        )

    def coverage(self, *, days: int = DAYS, namespace: str = "") -> results.Coverage:
        """Return how many datasets, jobs and runs have lineage.

        Args:
            days: Length of the window for runs, in days up to now.
            namespace: Only nodes of this namespace.

        Returns:
            The counts in all and by namespace, the blast radius, and the certified paths.
        """
        counts: dict[str, Any] = {}
        after = None
        while True:
            asked = {"days": days, "namespace": namespace, "after": after}
            found = self._backend.ask("coverage", **asked)["coverage"]
            pages = found["namespaces"]
            counts |= {one["node"]["namespace"]: one["node"]["counts"] for one in pages["edges"]}
            if not pages["pageInfo"]["hasNextPage"]:
                return self._convert({**found, "namespaces": counts}, results.Coverage)
            after = pages["pageInfo"]["endCursor"]

    def replay_plan(self, node: NodeName, *, since: Time | None = None) -> results.ReplayPlan:
        """Return the runs to replace after a corrupt run, in their order.

        Args:
            node: The corrupt run, or a version or dataset that it wrote.
            since: Versions of the dataset since this time are corrupt; a dataset needs it.

        Returns:
            The runs with their steps, and the answers that rest on them.
        """
        urn = resolve(self._backend, text_of_node(node), ("PIPELINE_RUN", "DATASET"))
        if since is None and parse_urn(urn).kind == "dataset":
            raise QueryError(
                f"since is required for the dataset {urn}",
                hint='Add for example since="yesterday", or name the corrupt run.',
            )
        found = self._backend.ask("replay_plan", urn=urn, since=iso("since", since))["replayPlan"]
        reruns = [
            {**run, "step": number}
            for number, step in enumerate(found["steps"], start=1)
            for run in step["runs"]
        ]
        return self._convert({**found, "reruns": reruns}, results.ReplayPlan)

    def evidence(
        self, node: NodeName, *, at: datetime | None = None, depth: int = DEPTH
    ) -> results.EvidencePack:
        """Return everything that is known about a node, sealed by a hash.

        Args:
            node: The node.
            at: The time that the pack names; by default now. The same graph and time give the same
                pack.
            depth: Number of jobs or runs to cross, 1 to 50.

        Returns:
            The pack with its digest.
        """
        instant = at or datetime.now(UTC)
        if instant.tzinfo is None:
            raise QueryError("at must have a time zone", hint="For example datetime.now(UTC).")
        urn = resolve(self._backend, text_of_node(node))
        found = self._backend.evidence(urn, at=instant, depth=depth)
        return self._convert(found, results.EvidencePack)

    def _convert(self, content: Any, kind: type[T]) -> T:
        try:
            return msgspec.convert(content, kind)
        except msgspec.ValidationError as error:
            raise UnavailableError(
                f"{self._backend.address.url} does not answer as this version expects: {error}",
                hint="Use the version of the server: pip install headwater==VERSION.",
            ) from error
