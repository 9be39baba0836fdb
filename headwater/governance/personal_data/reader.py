"""Read the graph over which personal data propagates: one statement for each hop of datasets.

The graph is read whatever the caller's visibility; `listing` hides what the caller may not see.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from datetime import date
from itertools import chain
from operator import attrgetter

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.governance.personal_data.classes import class_of_name, classes_of_tags
from headwater.governance.personal_data.declassification import active_declassifications
from headwater.governance.personal_data.propagate import (
    Citation,
    ColumnEdge,
    Crossing,
    DatasetLinks,
    Kind,
    PersonalDataGraph,
    Root,
    is_masking,
)
from headwater.lineage.view import GraphView
from headwater.schema.edits import NodeApproval
from headwater.schema.urns import column_urn, parse_urn

# The dataset of the source, the source, the target, and the job of a column edge.
_EdgeKey = tuple[str, str, str, str]
DATASETS_MAX = 50_000
_DATASETS_PER_QUERY = 500
_URNS_PER_QUERY = 1_000
# After more changes than this, everything is read again.
_CHANGED_MAX = 5_000
# The links of a dataset may change with a node two hops away: another input of a job that reads it.
_HOPS = 2
# As in `headwater.lineage.cache.cache_refresher`: then all of a commit is visible.
_COMMIT_VISIBLE_SECONDS = 1.0
_SECONDS_MAX = 30.0
_COLUMN, _DATASET, _ANSWER = "column:", "dataset:", "answer:"
MODEL_TYPES = frozenset({"model"})
EXPORT_TYPES = frozenset({"export", "report", "dashboard"})
EXPORT_TAGS = frozenset({"export", "export=true", "external-consumer", "external-consumer=true"})


class PersonalDataReader:
    """Everything that personal data may reach, from the classified nodes on.

    The first `refresh` reads it, and later ones only what changed since, by the revisions of the
    nodes. Not safe to share between threads.

    with_suggested: columns whose names suggest a class are classified too.
    """

    def __init__(self, *, with_suggested: bool = False) -> None:
        self._with_suggested = with_suggested
        self._graph = ""
        # When each revision was found. The first one was read whole.
        self._observed: deque[tuple[float, int]] = deque()
        self._roots: dict[str, list[Root]] = {}
        self._links: dict[str, DatasetLinks] = {}
        self._citing: dict[str, list[str]] = {}
        # Of the column edges that masked in some runs of their job, those that do so now.
        self._masked: set[_EdgeKey] = set()

    def refresh(self, view: GraphView) -> bool:
        """Read what changed. Return True if anything that personal data may reach changed.

        view: an unrestricted view.
        """
        began = time.monotonic()
        rows = view.read("read/cache/revision")
        graph, revision = (rows[0]["graph"], rows[0]["revision"]) if rows else ("", 0)
        observed = self._observed
        if not observed or graph != self._graph or revision < observed[-1][1]:
            self._load(view)
            self._observed = deque([(began, revision - 1), (began, revision)])
            self._graph = graph
            return True
        new = [(began, revision)] if revision > observed[-1][1] else []
        if len(observed) + len(new) == 1:
            return False
        is_changed = self._update(view, observed[0][1])
        observed.extend(new)
        while len(observed) > 1 and observed[1][0] <= began - _COMMIT_VISIBLE_SECONDS:
            observed.popleft()
        return is_changed

    def graph(self, today: date) -> PersonalDataGraph:
        """Return what was read.

        today: declassifications that ended before this day no longer count.
        """
        declassified: dict[str, dict[str, NodeApproval]] = {}
        for urn, links in self._links.items():
            if links.approvals:
                declassified.update(active_declassifications(urn, links.approvals, today))
        return PersonalDataGraph(
            datasets=self._links | dict(self._with_masks()),
            roots=list(chain.from_iterable(self._roots.values())),
            citing=self._citing,
            declassified=declassified,
        )

    def _with_masks(self) -> Iterator[tuple[str, DatasetLinks]]:
        """Yield the datasets with edges that mask now, with only those transformations."""
        for dataset in {dataset for dataset, _, _, _ in self._masked}:
            links = self._links[dataset]
            edges = [
                edge._replace(transformations=tuple(filter(is_masking, edge.transformations)))
                if (dataset, edge.source, edge.target, edge.job) in self._masked
                else edge
                for edge in links.edges
            ]
            yield dataset, replace(links, edges=edges)

    def _load(self, view: GraphView) -> None:
        roots = self._read_roots(view, None)
        links = _read_links(view, roots, {})
        self._masked = _read_masked(view, links.values())
        self._citing = _read_citing(view, links.values())
        self._roots, self._links = roots, links

    def _update(self, view: GraphView, after: int) -> bool:
        """Read the nodes that changed after a revision, and those whose links they may change."""
        rows = view.read("read/findings/changed_nodes", after=after)
        changed = {row["urn"] for row in rows}
        near = self._near(view, changed) if len(changed) <= _CHANGED_MAX else None
        if near is None or len(near) > _CHANGED_MAX:
            self._load(view)
            return True
        roots = {urn: known for urn, known in self._roots.items() if urn not in near}
        roots |= self._read_roots(view, near) if near else {}
        known = {urn: links for urn, links in self._links.items() if urn not in near}
        wanted = {*(self._links.keys() & near), *(roots.keys() - known.keys())}
        links = {**known, **_read_links(view, wanted, known)}
        # A run that masks, or no longer does, changes no node of the lineage graph.
        masked = _read_masked(view, links.values())
        has_answers = any(urn.startswith(_ANSWER) for urn in changed)
        is_changed = links != self._links or roots != self._roots or masked != self._masked
        citing = self._citing
        if is_changed or has_answers:
            citing = _read_citing(view, links.values())
        is_changed = is_changed or citing != self._citing
        if is_changed:
            self._roots, self._links, self._citing = roots, links, citing
            self._masked = masked
        return is_changed

    def _near(self, view: GraphView, changed: Set[str]) -> set[str]:
        """Return nodes, those within two hops, and the datasets that answers cite or cited."""
        answers = {urn for urn in changed if urn.startswith(_ANSWER)}
        found = set(changed)
        for urns in chunks(sorted(answers), _URNS_PER_QUERY):
            for row in view.read("read/findings/cited_datasets", urns=urns):
                found.update(row["datasets"])
        if answers:
            for urn, links in self._links.items():
                if any(citation.answer in answers for citation in links.citations):
                    found.add(urn)
        border = changed - answers
        for _ in range(_HOPS):
            beside: set[str] = set()
            for urns in chunks(sorted(border), _URNS_PER_QUERY):
                rows = view.read("read/findings/neighbours", urns=urns, limit=_CHANGED_MAX + 1)
                beside.update(row["urn"] for row in rows if row["urn"])
            border = beside - found
            found |= border
        return found

    def _read_roots(self, view: GraphView, among: Set[str] | None) -> dict[str, list[Root]]:
        """Return the classified nodes by dataset; of these datasets, or of all."""
        roots: dict[str, list[Root]] = defaultdict(list)
        for root in _read_classified(view, among):
            roots[root.dataset].append(root)
        if self._with_suggested:
            for root in _read_suggested(view):
                known = {one.urn for one in roots.get(root.dataset, ()) if one.origin == "tag"}
                if (among is None or root.dataset in among) and root.urn not in known:
                    roots[root.dataset].append(root)
        order = attrgetter("urn", "classification", "origin")
        return {urn: sorted(found, key=order) for urn, found in roots.items()}


def _read_classified(view: GraphView, among: Set[str] | None) -> Iterator[Root]:
    """Yield the nodes that tags classify, of these datasets or of all."""
    if among is None:
        yield from _roots(view.read("read/personal_data/classified", seconds=_SECONDS_MAX))
        return
    for urns in chunks(sorted(among), _URNS_PER_QUERY):
        yield from _roots(
            view.read("read/personal_data/classified_among", seconds=_SECONDS_MAX, urns=urns)
        )


def _roots(rows: Iterable[Row]) -> Iterator[Root]:
    for row in rows:
        # The tags of columns stand on their columns as well; their keys contain a colon.
        own = classes_of_tags(tag for tag in row["tags"] if ":" not in tag.partition("=")[0])
        if not row["columns"]:
            yield from (Root(row["urn"], row["urn"], one) for one in sorted(own))
        for urn, tags in row["columns"]:
            for one in sorted(own | classes_of_tags(tags)):
                yield Root(urn, row["urn"], one)


def _read_suggested(view: GraphView) -> Iterator[Root]:
    rows = view.read("read/personal_data/named_columns", seconds=_SECONDS_MAX, limit=DATASETS_MAX)
    for row in rows:
        named = [(column, class_of_name(column)) for column in row["columns"]]
        parts = parse_urn(row["urn"]).parts if any(one for _, one in named) else ()
        if len(parts) == 2:
            namespace, name = parts
            for column, one in named:
                if one is not None:
                    yield Root(column_urn(namespace, name, column), row["urn"], one, "name")


def _read_links(
    view: GraphView, starts: Iterable[str], known: Mapping[str, DatasetLinks]
) -> dict[str, DatasetLinks]:
    """Return the links of these datasets, and of all that are reached from them and not known."""
    found: dict[str, DatasetLinks] = {}
    seen = border = set(starts)
    while border:
        after: set[str] = set()
        for urns in chunks(sorted(border), _DATASETS_PER_QUERY):
            for row in view.read("read/personal_data/links", seconds=_SECONDS_MAX, urns=urns):
                links = found[row["urn"]] = _links(row)
                after.update(edge.target_dataset for edge in links.edges)
                after.update(crossing.output for crossing in links.crossings)
        border = after - seen - known.keys()
        border = border if len(seen) + len(known) < DATASETS_MAX else set()
        seen = seen | border
    return found


def _links(row: Row) -> DatasetLinks:
    stale = {(job, output) for job, output in row["stale"]}
    edges = [
        ColumnEdge(
            source,
            target,
            dataset or dataset_of(target),
            job or "",
            tuple(transformations or ()),
        )
        for source, target, job, transformations, dataset in row["edges"]
    ]
    crossings = [Crossing(job, output, has) for job, output, has in row["crossings"]]
    crossings += [Crossing("", output, has) for output, has in row["feeds"]]
    columns = row["columns"]
    return DatasetLinks(
        urn=row["urn"],
        kind=kind_of(row["type"], row["tags"]),
        is_gone=row["isGone"],
        columns=frozenset(map(str.casefold, columns)) if columns else None,
        edges=sorted(
            edge
            for edge in edges
            if (edge.job, None) not in stale and (edge.job, edge.target_dataset) not in stale
        ),
        crossings=sorted(crossings, key=lambda one: (one.output, one.job)),
        citations=sorted(Citation(answer, column) for answer, column in row["citations"]),
        approvals=row["approvals"],
    )


def _read_masked(view: GraphView, datasets: Iterable[DatasetLinks]) -> set[_EdgeKey]:
    """Return the column edges that masked in some runs of their job and do so in the newest one."""
    found: set[_EdgeKey] = set()
    mixed = [(links.urn, edge) for links in datasets for edge in links.mixed_edges]
    for some in chunks(mixed, _DATASETS_PER_QUERY):
        keys = {(edge.source, edge.target, edge.job): dataset for dataset, edge in some}
        rows = [
            {
                "source": edge.source,
                "target": edge.target,
                "job": edge.job,
                "dataset": edge.target_dataset,
            }
            for _, edge in some
        ]
        for row in view.read("read/personal_data/masked_edges", seconds=_SECONDS_MAX, rows=rows):
            key = row["source"], row["target"], row["job"]
            found.add((keys[key], *key))
    return found


def dataset_of(urn: str) -> str:
    """Return the urn of the dataset of a column, or of a dataset itself."""
    if urn.startswith(_DATASET):
        return urn
    return _DATASET + urn.removeprefix(_COLUMN).rpartition(":")[0]


def kind_of(type: str | None, tags: Iterable[str] | None) -> Kind:
    """Return the kind of a dataset: by its type, or as an export by its tags."""
    word = (type or "").casefold()
    if word in MODEL_TYPES:
        return Kind.MODEL
    is_export = word in EXPORT_TYPES or any(tag.casefold() in EXPORT_TAGS for tag in tags or ())
    return Kind.EXPORT if is_export else Kind.DATASET


def _read_citing(view: GraphView, datasets: Iterable[DatasetLinks]) -> dict[str, list[str]]:
    """Return the answers that cite the answers of datasets, over any number of answers."""
    found: dict[str, list[str]] = {}
    border = {citation.answer for links in datasets for citation in links.citations}
    while border:
        after: set[str] = set()
        for urns in chunks(sorted(border), _DATASETS_PER_QUERY):
            for row in view.read("read/personal_data/citing_answers", urns=urns):
                found[row["urn"]] = sorted(row["answers"])
                after.update(row["answers"])
        border = after - found.keys()
    return found
