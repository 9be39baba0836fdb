"""The context of one request: the graph as the caller may see it, and the loaders of that request.

A loader collects the keys that many resolvers need in one turn of the event loop, then queries
Neo4j once. A list of a hundred runs costs one statement per kind of field, not one per row.
Questions run in a bounded number of threads. A cancelled request leaves its thread behind; the
thread ends at its own deadline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio
import strawberry
from strawberry.dataloader import DataLoader

from headwater.access.bounded_threads import CODE_THREADS_MAX, BoundedThreads
from headwater.access.principal import Principal
from headwater.cypher.driver.database import Row
from headwater.governance.personal_data.marks import PersonalDataMark, personal_data_marks
from headwater.governance.policies.store import PolicyStore
from headwater.graphql.finding_feed import FindingFeed
from headwater.graphql.run_feed import RunFeed
from headwater.health.findings.listing import findings_by_urn, findings_of
from headwater.health.findings.models import Finding
from headwater.health.findings.open_findings import (
    NO_OPEN_FINDINGS,
    OpenFindings,
    open_findings_of,
)
from headwater.health.platform import PlatformState
from headwater.lineage.history_pages import read_history_pages
from headwater.lineage.node_names import NodeName
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import name_nodes, read_all_facets, read_nodes, resolve_urn
from headwater.lineage.pagination import Page, PageRequest
from headwater.lineage.questions.edits import NamedEdit, edits_of
from headwater.lineage.questions.failure_impact import FailureImpact, failure_impact
from headwater.lineage.questions.failures import AffectedNodes, affected_nodes
from headwater.lineage.questions.freshness import Freshness, freshness
from headwater.lineage.questions.node_overviews import NodeOverview, node_overviews
from headwater.lineage.questions.quality import Quality, quality
from headwater.lineage.view import GraphView

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Submit = Callable[[Principal, list[dict[str, Any]]], Awaitable[None]]
OnRefusal = Callable[[str, str], None]
ReadPlatform = Callable[[], PlatformState]
# The urn of a node, and the page of its history.
PageKey = tuple[str, PageRequest]
# The urn of a node, and the instant of its overview; None for the newest.
OverviewKey = tuple[str, datetime | None]

THREADS_MAX = 16
# The most jobs, inputs, outputs or children that one node shows.
LINKS_MAX = 1_000
_threads = anyio.CapacityLimiter(THREADS_MAX)
_code_threads = BoundedThreads("questions about code", CODE_THREADS_MAX)


@dataclass(frozen=True)
class SubscriptionState:
    """The feeds of changed runs and findings, and a callback that limits a subscription's work.

    `set_working(True)` starts the time limit, `set_working(False)` stops it while the
    subscription waits for the next change.
    """

    feed: RunFeed
    finding_feed: FindingFeed
    set_working: Callable[[bool], None]


@dataclass(frozen=True)
class Installation:
    """What all requests to one server have in common.

    trace_url: the address of a trace, with `{traceId}` for its id; "" for none.
    policies: those in force.
    """

    trace_url: str = ""
    policies: PolicyStore = field(default_factory=lambda: PolicyStore(None))


class Context:
    """One request: the principal, the view and the loaders."""

    def __init__(
        self,
        view: GraphView,
        submit: Submit,
        principal: Principal,
        on_refusal: OnRefusal,
        subscription: SubscriptionState | None = None,
        read_platform: ReadPlatform | None = None,
        installation: Installation | None = None,
    ) -> None:
        """Build the context of a principal.

        `on_refusal` takes each refused field and the reason. `subscription` is set for
        subscriptions only. `read_platform` returns how the platform itself does. `installation` is
        what all requests have in common.
        """
        self.view = view.visible_to(principal.visibility)
        self.principal = principal
        self.on_refusal = on_refusal
        self.subscription = subscription
        self.read_platform = read_platform
        installation = installation or Installation()
        self.trace_url = installation.trace_url
        self.policies = installation.policies
        self._submit = submit
        self.reset_loaders()

    def reset_loaders(self) -> None:
        """Create all loaders again: their cached rows may have changed in Neo4j."""
        self.nodes: DataLoader[str, Row | None] = self._loader(self._load_nodes)
        self.facets: DataLoader[str, dict[str, Any]] = self._loader(self._load_facets)
        self.downstream: DataLoader[str, AffectedNodes] = self._loader(self._load_downstream)
        self.failure_impacts: DataLoader[str, FailureImpact] = self._loader(
            self._load_failure_impacts
        )
        self.freshness: DataLoader[str, Freshness] = self._loader(self._load_freshness)
        self.quality: DataLoader[str, Quality] = self._loader(self._load_quality)
        self.overviews: DataLoader[OverviewKey, NodeOverview | None] = self._loader(
            self._load_overviews
        )
        self.names: DataLoader[str, NodeName] = self._loader(self._load_names)
        self.findings: DataLoader[str, list[Finding]] = self._loader(self._load_findings)
        self.open_findings: DataLoader[str, OpenFindings] = self._loader(self._load_open_findings)
        self.personal_data_marks: DataLoader[str, PersonalDataMark | None] = self._loader(
            self._load_personal_data_marks
        )
        self.finding: DataLoader[str, Finding | None] = self._loader(self._load_finding)
        self.edits: DataLoader[str, list[NamedEdit]] = self._loader(self._load_edits)
        self.citations: DataLoader[str, list[str]] = self._loader(self._load_citations)
        visible_namespaces = self.view.visibility.regexes
        self.run_links = self._link_loader("read/nodes/run_links", visible=visible_namespaces)
        self.job_links = self._link_loader("read/nodes/job_links", visible=visible_namespaces)
        self.dataset_links = self._link_loader(
            "read/nodes/dataset_links", visible=visible_namespaces
        )
        self.dataset_sources = self._link_loader("read/nodes/dataset_sources")
        self.dataset_aliases = self._link_loader(
            "read/nodes/dataset_aliases", visible=visible_namespaces
        )
        self.schema_versions = self._link_loader("read/nodes/dataset_schemas")
        self.job_runs = self._page_loader("read/nodes/job_runs")
        self.dataset_versions = self._page_loader("read/nodes/dataset_versions")
        self.dataset_answers = self._page_loader("read/nodes/dataset_answers")
        self.job_runs_count = self._count_loader(
            "read/nodes/job_runs_count", visible=visible_namespaces
        )
        self.dataset_versions_count = self._count_loader("read/nodes/dataset_versions_count")
        self.dataset_answers_count = self._count_loader(
            "read/nodes/dataset_answers_count", visible=visible_namespaces
        )

    async def submit(self, events: list[dict[str, Any]]) -> None:
        """Write events to the spool.

        Raises ForbiddenError for an event outside the namespaces of the principal.
        """
        await self._submit(self.principal, events)

    async def run_in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking question in a thread and return its result."""
        return await anyio.to_thread.run_sync(
            partial(function, *args, **kwargs), abandon_on_cancel=True, limiter=_threads
        )

    async def run_in_code_thread(
        self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a question that reads code that producers sent. Raises UnavailableError if too many
        wait."""
        call = partial(function, *args, **kwargs)
        return await _code_threads.run(call, caller=self.principal.name)

    async def load_existing(self, urns: list[str]) -> list[Row]:
        """Return the properties of those nodes that exist, in order."""
        return [row for row in await self.nodes.load_many(urns) if row is not None]

    async def load_resolved(self, urn: str) -> Row | None:
        """Return the properties of a node, given by its urn or by another that stands for it."""
        row = await self.nodes.load(urn)
        if row is not None:
            return row
        return await self.nodes.load(await self.run_in_thread(resolve_urn, self.view, urn))

    async def visible_urns(self, urns: list[str]) -> list[str]:
        """Return the urns of nodes that the principal may see, in order."""
        if self.view.visibility.is_unrestricted:
            return urns
        return await self.run_in_thread(select_visible, self.view, urns)

    def _load_nodes(self, urns: list[str]) -> list[Row | None]:
        rows = read_nodes(self.view, urns)
        return [rows.get(urn) for urn in urns]

    def _load_facets(self, urns: list[str]) -> list[dict[str, Any]]:
        facets = read_all_facets(self.view, urns)
        return [facets.get(urn, {}) for urn in urns]

    def _load_downstream(self, urns: list[str]) -> list[AffectedNodes]:
        results = affected_nodes(self.view, urns)
        return [results.get(urn) or AffectedNodes([], [], [], [], []) for urn in urns]

    def _load_failure_impacts(self, urns: list[str]) -> list[FailureImpact]:
        results = failure_impact(self.view, urns)
        return [results.get(urn) or FailureImpact() for urn in urns]

    def _load_freshness(self, urns: list[str]) -> list[Freshness]:
        results = freshness(self.view, urns)
        return [results.get(urn) or Freshness(urn, None, None, []) for urn in urns]

    def _load_quality(self, urns: list[str]) -> list[Quality]:
        results = quality(self.view, urns)
        return [results.get(urn) or Quality() for urn in urns]

    def _load_overviews(self, keys: list[OverviewKey]) -> list[NodeOverview | None]:
        urns_by_instant: dict[datetime | None, list[str]] = defaultdict(list)
        for urn, as_of in keys:
            urns_by_instant[as_of].append(urn)
        found = {
            as_of: node_overviews(self.view, urns, as_of) for as_of, urns in urns_by_instant.items()
        }
        return [found[as_of].get(urn) for urn, as_of in keys]

    def _load_names(self, urns: list[str]) -> list[NodeName]:
        return name_nodes(self.view, urns)

    def _load_findings(self, urns: list[str]) -> list[list[Finding]]:
        results = findings_of(self.view, urns)
        return [results.get(urn, []) for urn in urns]

    def _load_open_findings(self, urns: list[str]) -> list[OpenFindings]:
        results = open_findings_of(self.view, urns)
        return [results.get(urn, NO_OPEN_FINDINGS) for urn in urns]

    def _load_personal_data_marks(self, urns: list[str]) -> list[PersonalDataMark | None]:
        results = personal_data_marks(self.view, urns)
        return [results.get(urn) for urn in urns]

    def _load_finding(self, ids: list[str]) -> list[Finding | None]:
        results = findings_by_urn(self.view, ids)
        return [results.get(id) for id in ids]

    def _load_edits(self, urns: list[str]) -> list[list[NamedEdit]]:
        results = edits_of(self.view, urns)
        return [results.get(urn, []) for urn in urns]

    def _load_citations(self, urns: list[str]) -> list[list[str]]:
        cited: dict[str, list[str]] = defaultdict(list)
        limit = LINKS_MAX * len(urns)
        for row in self.view.read("read/traversal/cited_nodes", urns=urns, limit=limit):
            cited[row["target"]].append(row["source"])
        return [sorted(cited[urn]) for urn in urns]

    def _link_loader(self, name: str, **parameters: Any) -> DataLoader[str, Row]:
        """Return a loader of the neighbours of nodes, read by this catalog query."""
        limits = {} if name == "read/nodes/dataset_sources" else {"limit": LINKS_MAX}

        def load(urns: list[str]) -> list[Row]:
            link_rows = self.view.read(name, urns=urns, **limits, **parameters)
            rows = {row["urn"]: row for row in link_rows}
            return [rows.get(urn, {}) for urn in urns]

        return self._loader(load)

    def _page_loader(self, name: str) -> DataLoader[PageKey, Page[str]]:
        """Return a loader of pages: one statement for each distinct page."""

        def load(keys: list[PageKey]) -> list[Page[str]]:
            urns_by_page: dict[PageRequest, list[str]] = defaultdict(list)
            for urn, page in keys:
                urns_by_page[page].append(urn)
            pages = {
                page: read_history_pages(self.view, name, urns, page)
                for page, urns in urns_by_page.items()
            }
            return [pages[page].get(urn) or Page([], [], False) for urn, page in keys]

        return self._loader(load)

    def _count_loader(self, name: str, **parameters: Any) -> DataLoader[str, int]:
        """Return a loader of numbers of entries, counted by this catalog query."""

        def load(urns: list[str]) -> list[int]:
            rows = self.view.read(name, urns=urns, **parameters)
            counts = {row["urn"]: row["count"] for row in rows}
            return [counts.get(urn, 0) for urn in urns]

        return self._loader(load)

    def _loader(self, load: Callable[[list[K]], list[T]]) -> DataLoader[K, T]:
        async def load_in_thread(keys: list[K]) -> list[T]:
            return await self.run_in_thread(load, keys)

        return DataLoader(load_fn=load_in_thread)


Info = strawberry.Info[Context, None]
