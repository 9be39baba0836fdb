"""Who is downstream of findings, and what is upstream of them: bounded searches of the current
lineage graph.

Downstream of a node are the datasets and jobs that current edges lead to, and the answers that cite
a version of one of them, or of the node itself. A citation counts if the cited version was current
when the finding began, or was made later. The node itself does not count.

A job that contains others, such as a DAG, has the downstream of the jobs that it contains, and is
upstream of it. Those jobs are a part of it: they do not count as affected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.health.findings.models import Affected, Consumer, Episode
from headwater.health.findings.root_causes import HOPS_MAX
from headwater.health.findings.severity import is_critical
from headwater.lineage.node_names import kind_of
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.view import GraphView
from headwater.schema.visibility import UNRESTRICTED

CONSUMERS_MAX = 20
NODES_MAX = 2_000
# For searches of everything upstream or downstream of a pass.
SCOPE_NODES_MAX = 20_000
_ROWS_MAX = 200_000
# A search that is cut by time depends on the machine, so the time is far above what a search takes.
_SECONDS_MAX = 60.0
_SUBJECTS_PER_SEARCH = 100
_CITATIONS_MAX = 20_000
# Jobs that one job contains.
_PARTS_MAX = 1_000
# Answers of one dataset.
_ANSWERS_MAX = 1_000
_URNS_PER_QUERY_MAX = 1_000
_DATASET, _JOB, _ANSWER = "dataset:", "job:", "answer:"
_LINEAGE = (_DATASET, _JOB)


@dataclass(frozen=True)
class Subject:
    """What is known of a node: its owners, who may see it, and whether it is critical."""

    owners: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    is_critical: bool = False


@dataclass(frozen=True)
class Reached:
    """The nodes that a search reached, with their hops."""

    hops: Mapping[str, int]
    truncated: bool


def read_subjects(view: GraphView, urns: Iterable[str]) -> dict[str, Subject]:
    """Return what is known of those of these nodes that the graph has."""
    found: dict[str, Subject] = {}
    for some in chunks(sorted(set(urns)), _URNS_PER_QUERY_MAX):
        for row in view.read("read/findings/subjects", urns=some):
            found[row["urn"]] = Subject(
                tuple(sorted(row["owners"])),
                tuple(sorted(namespace or "" for namespace in row["namespaces"])),
                is_critical(row["tags"], row["type"]),
            )
    return found


def read_upstream(
    view: GraphView, subjects: Iterable[str], *, among: Set[str]
) -> dict[str, dict[str, int]]:
    """Return the hops to the nodes `among` these that are upstream of each subject.

    The subject itself has 0 hops. An answer is one hop from the datasets that it cites. The
    containers of a job have its hops, but those of the subject are not upstream of it.
    """
    upstream: dict[str, dict[str, int]] = {}
    containers = _containers_among(view, among)
    for some in chunks(sorted(set(subjects)), _SUBJECTS_PER_SEARCH):
        cited = _cited_datasets(view, [urn for urn in some if urn.startswith(_ANSWER)])
        starts = {
            urn: cited.get(urn, [urn]) for urn in some if urn.startswith((*_LINEAGE, _ANSWER))
        }
        upstream.update((urn, {urn: 0}) for urn in some)
        for urn, reached in _search(view, DATASETS_UP, starts, NODES_MAX).items():
            distance = 1 if urn.startswith(_ANSWER) else 0
            for node, hops in reached.hops.items():
                # A container does not explain its own jobs: they explain it.
                around = set(containers.get(node, ())).difference(containers.get(urn, ()))
                for one in around.union([node]) & among:
                    found = upstream[urn].get(one, HOPS_MAX + 1)
                    upstream[urn][one] = min(hops + distance, found)
    return upstream


def read_affected(
    view: GraphView, episodes: Sequence[Episode], *, seconds: float = _SECONDS_MAX
) -> dict[str, Affected]:
    """Return who is affected by each of these episodes, by the id of the finding.

    Paths lead through hidden nodes, but the caller gets and counts visible ones only.
    """
    affected: dict[str, Affected] = {}
    ordered = sorted(episodes, key=lambda one: one.subject)
    for some in chunks(ordered, _SUBJECTS_PER_SEARCH):
        affected.update(_read_affected(view, some, seconds))
    return affected


def _read_affected(
    view: GraphView, episodes: Sequence[Episode], seconds: float
) -> dict[str, Affected]:
    subjects = {one.subject for one in episodes if one.subject.startswith(_LINEAGE)}
    everything = view.visible_to(UNRESTRICTED)
    parts = _contained_jobs(everything, subjects)
    starts = {urn: [urn, *parts.get(urn, ())] for urn in sorted(subjects)}
    reached = _search(everything, DATASETS_DOWN, starts, NODES_MAX, seconds)
    citations = _read_citations(view, reached, episodes)
    answers = {one.id: _citing(one, reached.get(one.subject), citations) for one in episodes}
    nodes = _all_nodes(reached).union(*answers.values())
    known = read_subjects(view, nodes - find_hidden(view, nodes))
    return {
        one.id: _affected(
            starts.get(one.subject, ()), reached.get(one.subject), answers[one.id], known
        )
        for one in episodes
    }


def find_downstream(view: GraphView, starts: Iterable[str]) -> Reached:
    """Return all nodes downstream of these, the answers that cite them among them."""
    wanted = set(starts)
    parts = _contained_jobs(view, wanted)
    found = _search_together(view, DATASETS_DOWN, wanted.union(*parts.values()))
    datasets = [urn for urn in found.hops if urn.startswith(_DATASET)]
    hops = dict(found.hops)
    for some in chunks(sorted(datasets), _URNS_PER_QUERY_MAX):
        for row in view.read("read/figures/answers_of_datasets", urns=some, limit=_ANSWERS_MAX):
            hops.update(dict.fromkeys(row["answers"], HOPS_MAX))
    return Reached(hops, found.truncated)


def find_upstream(view: GraphView, starts: Iterable[str]) -> Reached:
    """Return all nodes upstream of these, the containers of jobs among them."""
    wanted = sorted(set(starts))
    cited = _cited_datasets(view, [urn for urn in wanted if urn.startswith(_ANSWER)])
    datasets = chain.from_iterable(cited.values())
    found = _search_together(view, DATASETS_UP, [*wanted, *datasets])
    hops = dict(found.hops)
    jobs = sorted(urn for urn in hops if urn.startswith(_JOB))
    for some in chunks(jobs, _URNS_PER_QUERY_MAX):
        for row in view.read("read/nodes/job_containers", urns=some):
            hops.setdefault(row["container"], hops[row["urn"]])
    return Reached(hops, found.truncated)


def find_cited(view: GraphView, datasets: Iterable[str]) -> set[str]:
    """Return those of these datasets that have a version which an answer cites."""
    found: set[str] = set()
    for some in chunks(sorted(set(datasets)), _URNS_PER_QUERY_MAX):
        rows = view.read("read/figures/answers_of_datasets", urns=some, limit=1)
        found.update(row["dataset"] for row in rows if row["answers"])
    return found


def _contained_jobs(view: GraphView, urns: Iterable[str]) -> dict[str, list[str]]:
    """Return the jobs that the jobs among these nodes contain."""
    parts: dict[str, list[str]] = {}
    for some in chunks(sorted(urn for urn in urns if urn.startswith(_JOB)), _URNS_PER_QUERY_MAX):
        rows = view.read("read/findings/contained_jobs", urns=some, limit=_PARTS_MAX)
        parts.update((row["urn"], row["jobs"]) for row in rows if row["jobs"])
    return parts


def _containers_among(view: GraphView, urns: Iterable[str]) -> dict[str, list[str]]:
    """Return the jobs among these nodes that contain a job, by the contained job."""
    containers: dict[str, list[str]] = defaultdict(list)
    for container, jobs in _contained_jobs(view, urns).items():
        for urn in jobs:
            containers[urn].append(container)
    return containers


def _search_together(view: GraphView, layer: Layer, starts: Iterable[str]) -> Reached:
    wanted = sorted({urn for urn in starts if urn.startswith(_LINEAGE)})
    if not wanted:
        return Reached({}, truncated=False)
    return _search(view, layer, {"": wanted}, SCOPE_NODES_MAX)[""]


def _search(
    view: GraphView,
    layer: Layer,
    starts: Mapping[str, Sequence[str]],
    nodes_max: int,
    seconds: float = _SECONDS_MAX,
) -> dict[str, Reached]:
    """Run a search from each set of starts; they share their reads."""
    found: dict[str, Reached] = {}
    for some in chunks(sorted(starts), _SUBJECTS_PER_SEARCH):
        bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=nodes_max, edges_max=_ROWS_MAX)
        request = TraversalRequest(
            layer, bounds, shared_rows_max=_ROWS_MAX, find_resume_points=False
        )
        traversals = traverse(view, request, {urn: starts[urn] for urn in some})
        for urn, traversal in traversals.items():
            found[urn] = Reached(traversal.nodes, bool(traversal.truncated))
    return found


def _cited_datasets(view: GraphView, answers: Sequence[str]) -> dict[str, list[str]]:
    cited: dict[str, list[str]] = {}
    for some in chunks(sorted(set(answers)), _URNS_PER_QUERY_MAX):
        for row in view.read("read/findings/cited_datasets", urns=some):
            cited[row["urn"]] = row["datasets"]
    return cited


def _read_citations(
    view: GraphView, reached: Mapping[str, Reached], episodes: Sequence[Episode]
) -> dict[str, list[Row]]:
    """Return the citations of the reached datasets by dataset."""
    citations: dict[str, list[Row]] = defaultdict(list)
    datasets = {urn for urn in _all_nodes(reached) if urn.startswith(_DATASET)}
    if not datasets:
        return citations
    since = min(one.first_seen for one in episodes)
    for some in chunks(sorted(datasets), _URNS_PER_QUERY_MAX):
        for row in view.read(
            "read/failures/citations_since", urns=some, at=since, limit=_CITATIONS_MAX
        ):
            citations[row["dataset"]].append(row)
    return citations


def _citing(
    episode: Episode, reached: Reached | None, citations: Mapping[str, Sequence[Row]]
) -> set[str]:
    """Return the answers that cite what is downstream of an episode since it began."""
    nodes = reached.hops if reached else ()
    cited = chain.from_iterable(citations.get(urn, ()) for urn in nodes)
    return {row["answer"] for row in cited if _was_current(row, episode.first_seen)}


def _all_nodes(reached: Mapping[str, Reached]) -> set[str]:
    return set(chain.from_iterable(one.hops for one in reached.values()))


def _was_current(citation: Row, instant: datetime) -> bool:
    return citation["superseded"] is None or citation["superseded"] > instant


def _affected(
    starts: Sequence[str],
    reached: Reached | None,
    answers: set[str],
    known: Mapping[str, Subject],
) -> Affected:
    nodes = ((reached.hops if reached else {}).keys() - set(starts)) | answers
    consumers = [_consumer(urn, known.get(urn, Subject())) for urn in nodes if urn in known]
    consumers.sort(key=lambda one: (one.kind != "ANSWER", not one.is_critical, one.urn))
    return affected_of(consumers, truncated=bool(reached and reached.truncated))


def affected_of(consumers: Sequence[Consumer], *, truncated: bool) -> Affected:
    """Return the counts of consumers, which are in order of urgency, and the first of them."""
    return Affected(
        datasets=sum(one.kind == "DATASET" for one in consumers),
        jobs=sum(one.kind == "JOB" for one in consumers),
        answers=sum(one.kind == "ANSWER" for one in consumers),
        critical=sum(one.is_critical for one in consumers),
        consumers=tuple(consumers[:CONSUMERS_MAX]),
        truncated=truncated,
    )


def _consumer(urn: str, node: Subject) -> Consumer:
    return Consumer(urn, kind_of(urn), node.owners, node.is_critical)
