"""Read the histories of answers: their citations, and what lies upstream in the run history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.health.findings.answers.history import AnswerHistory, UsedVersion
from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.lineage.nodes import read_nodes
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.events import to_datetime

# Answers whose upstream history is searched in one traversal.
ANSWERS_MAX = 20
CITATIONS_MAX = 200
HOPS_MAX = 12
NODES_MAX = 2_000
EDGES_MAX = 5_000
TRAVERSAL_SECONDS_MAX = 5.0
# The datasets of one answer whose histories are read, nearest first.
DATASETS_MAX = 50
_VERSIONS = ("artifact:", "source:")


def read_answer_histories(
    view: GraphView, urns: Iterable[str], instant: datetime
) -> list[AnswerHistory]:
    """Return the histories of those of these answers that exist, in the order of their urns."""
    found: list[AnswerHistory] = []
    for some in chunks(sorted(set(urns)), ANSWERS_MAX):
        found += _read_chunk(view, some, instant)
    return found


def _read_chunk(view: GraphView, urns: list[str], instant: datetime) -> Iterator[AnswerHistory]:
    answers = view.read("read/findings/answer_citations", urns=urns, limit=CITATIONS_MAX)
    starts = {row["urn"]: list(row["cited"]) for row in answers if row["cited"]}
    used = _read_used(view, starts)
    datasets = {one.dataset for one in chain.from_iterable(used.values())}
    histories = {one.urn: one for one in read_dataset_histories(view, datasets, instant)}
    for row in answers:
        yield _history(row, used.get(row["urn"], []), histories)


def _history(
    row: Row, used: list[UsedVersion], histories: Mapping[str, DatasetHistory]
) -> AnswerHistory:
    known = tuple(one for one in used if one.dataset in histories)
    return AnswerHistory(
        urn=row["urn"],
        generated_at=row["generatedAt"],
        generations=_generations(row["facts"]),
        owners=tuple(row["owners"] or ()),
        used=known,
        datasets=tuple(histories[one.dataset] for one in known),
    )


def _generations(facts: str | None) -> tuple[datetime, ...]:
    content = json.loads(facts) if facts else {}
    return tuple(map(to_datetime, sorted(content.get("generated") or ())))


def _read_used(view: GraphView, starts: Mapping[str, list[str]]) -> dict[str, list[UsedVersion]]:
    """Return the newest version of each dataset behind the citations of each answer."""
    if not starts:
        return {}
    bounds = Bounds.within(
        TRAVERSAL_SECONDS_MAX, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX
    )
    request = TraversalRequest(RUNS_UP, bounds, prefetch=True, find_resume_points=False)
    found = traverse(view, request, starts)
    reached = {*chain.from_iterable(starts.values())}
    for traversal in found.values():
        reached.update(urn for urn in traversal.nodes if urn.startswith(_VERSIONS))
    rows = read_nodes(view, sorted(reached))
    return {urn: _used(found[urn], starts[urn], rows) for urn in starts}


def _used(traversal: Traversal, cited: list[str], rows: Mapping[str, Row]) -> list[UsedVersion]:
    hops = {**traversal.nodes, **dict.fromkeys(cited, 0)}
    nearest = sorted(hops, key=lambda urn: (hops[urn], urn))
    newest: dict[str, UsedVersion] = {}
    for urn in nearest:
        row = rows.get(urn)
        if row is None or not urn.startswith(_VERSIONS):
            continue
        one = UsedVersion(str(row["dataset"]), urn, row.get("createdAt"), urn in cited)
        other = newest.get(one.dataset)
        if other is None or _rank(one) > _rank(other):
            newest[one.dataset] = one
    return list(newest.values())[:DATASETS_MAX]


def _rank(one: UsedVersion) -> tuple[bool, bool, float, str]:
    """Return the key by which cited versions count before others, and newer before older."""
    made = one.made_at.timestamp() if one.made_at else 0.0
    return one.is_cited, one.made_at is not None, made, one.version
