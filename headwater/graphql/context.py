"""What every resolver is given: the database, the way in for events, and the loaders of one request.

A loader collects what many resolvers ask for in one turn of the event loop and asks Neo4j once, so a list of a
hundred runs costs one statement per kind of field, not one per row. Questions run in threads of a limited number,
and a request that is given up leaves its thread behind to end by its own deadline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio
import strawberry
from strawberry.dataloader import DataLoader

from headwater.access.principal import Principal
from headwater.cypher.driver.database import Row
from headwater.graphql.run_feed import News
from headwater.lineage.history_pages import newest
from headwater.lineage.node_visibility import visible
from headwater.lineage.nodes import read_all_facets, read_nodes
from headwater.lineage.pagination import Page
from headwater.lineage.questions.failure_impact import FailureImpact, failure_impact
from headwater.lineage.questions.failures import AffectedNodes, affected_nodes
from headwater.lineage.questions.freshness import Freshness, freshness
from headwater.lineage.questions.quality import Quality, quality
from headwater.lineage.view import GraphView

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Submit = Callable[[Principal, list[dict[str, Any]]], Awaitable[None]]
Refused = Callable[[str, str], None]
Listed = tuple[str, int, str | None]

THREADS_MAX = 16
# The most jobs, inputs, outputs or children that one node shows.
LINKS_MAX = 1_000
_threads = anyio.CapacityLimiter(THREADS_MAX)


@dataclass(frozen=True)
class Told:
    """What a subscription is given besides: where it hears of news, and how it says that it waits for some (False) or
    works on one (True), which may take only so long."""

    news: News
    works: Callable[[bool], None]


class Context:
    """One request."""

    def __init__(
        self,
        view: GraphView,
        submit: Submit,
        principal: Principal,
        refused: Refused,
        told: Told | None = None,
    ) -> None:
        """`refused` hears of what the principal may not ask: the field and why. `told` is there for a subscription."""
        self.view = view.visible_to(principal.visibility)
        self.principal = principal
        self.refused = refused
        self.told = told
        self._submit = submit
        self.forget()

    def forget(self) -> None:
        """Make the loaders anew: what they have read may have changed since."""
        self.nodes: DataLoader[str, Row | None] = self._loader(self._nodes)
        self.facets: DataLoader[str, dict[str, Any]] = self._loader(self._facets)
        self.downstream: DataLoader[str, AffectedNodes] = self._loader(self._downstream)
        self.failure_impacts: DataLoader[str, FailureImpact] = self._loader(self._consequences)
        self.freshness: DataLoader[str, Freshness] = self._loader(self._freshness)
        self.quality: DataLoader[str, Quality] = self._loader(self._quality)
        self.run_links = self._links("read/nodes/run_links", sees=self.view.visibility.regexes)
        self.job_links = self._links("read/nodes/job_links")
        self.dataset_links = self._links("read/nodes/dataset_links")
        self.dataset_sources = self._links("read/nodes/dataset_sources")
        self.other_names = self._links("read/nodes/dataset_aliases")
        self.schema_versions = self._links("read/nodes/dataset_schemas")
        self.citations = self._citations()
        self.job_runs = self._newest("read/nodes/job_runs")
        self.dataset_versions = self._newest("read/nodes/dataset_versions")
        self.dataset_answers = self._newest("read/nodes/dataset_answers")

    async def submit(self, events: list[dict[str, Any]]) -> None:
        """Have events kept. Raises ForeignEventError for one that whoever asks may not send."""
        await self._submit(self.principal, events)

    async def ask(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a question in a thread."""
        return await anyio.to_thread.run_sync(
            partial(function, *args, **kwargs), abandon_on_cancel=True, limiter=_threads
        )

    async def found(self, urns: list[str]) -> list[Row]:
        """The properties of those of these nodes that exist, in order."""
        return [row for row in await self.nodes.load_many(urns) if row is not None]

    def _nodes(self, urns: list[str]) -> list[Row | None]:
        rows = read_nodes(self.view, urns)
        return [rows.get(urn) for urn in urns]

    def _facets(self, urns: list[str]) -> list[dict[str, Any]]:
        found = read_all_facets(self.view, urns)
        return [found.get(urn, {}) for urn in urns]

    def _downstream(self, urns: list[str]) -> list[AffectedNodes]:
        touched = affected_nodes(self.view, urns)
        return [touched.get(urn) or AffectedNodes([], [], [], [], []) for urn in urns]

    def _consequences(self, urns: list[str]) -> list[FailureImpact]:
        found = failure_impact(self.view, urns)
        return [found.get(urn) or FailureImpact() for urn in urns]

    def _freshness(self, urns: list[str]) -> list[Freshness]:
        known = freshness(self.view, urns)
        return [known.get(urn) or Freshness(urn, None, None, []) for urn in urns]

    def _quality(self, urns: list[str]) -> list[Quality]:
        said = quality(self.view, urns)
        return [said.get(urn) or Quality() for urn in urns]

    def _citations(self) -> DataLoader[str, list[str]]:
        def load(urns: list[str]) -> list[list[str]]:
            cited: dict[str, list[str]] = defaultdict(list)
            for row in self.view.read(
                "read/traversal/cited_nodes", urns=urns, limit=LINKS_MAX * len(urns)
            ):
                cited[row["target"]].append(row["source"])
            return [sorted(cited[urn]) for urn in urns]

        return self._loader(load)

    async def seen(self, urns: list[str]) -> list[str]:
        """Those of these nodes that whoever asks may see, in order."""
        return (
            urns
            if self.view.visibility.is_unrestricted
            else await self.ask(visible, self.view, urns)
        )

    def _links(self, name: str, **parameters: Any) -> DataLoader[str, Row]:
        limits = {} if name == "read/nodes/dataset_sources" else {"limit": LINKS_MAX}

        def load(urns: list[str]) -> list[Row]:
            rows = {
                row["urn"]: row for row in self.view.read(name, urns=urns, **limits, **parameters)
            }
            return [rows.get(urn, {}) for urn in urns]

        return self._loader(load)

    def _newest(self, name: str) -> DataLoader[Listed, Page[str]]:
        """A loader for pages of what hangs on a node: one statement for each length and cursor that is asked for."""

        def load(keys: list[Listed]) -> list[Page[str]]:
            alike: dict[tuple[int, str | None], list[str]] = defaultdict(list)
            for urn, first, after in keys:
                alike[first, after].append(urn)
            found = {
                (first, after): newest(self.view, name, urns, first=first, after=after)
                for (first, after), urns in alike.items()
            }
            return [
                found[first, after].get(urn) or Page([], [], False) for urn, first, after in keys
            ]

        return self._loader(load)

    def _loader(self, load: Callable[[list[K]], list[T]]) -> DataLoader[K, T]:
        async def load_in_thread(keys: list[K]) -> list[T]:
            return await self.ask(load, keys)

        return DataLoader(load_fn=load_in_thread)


Info = strawberry.Info[Context, None]
