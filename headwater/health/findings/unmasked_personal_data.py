"""Rule `unmasked-personal-data`: values of personal data reach a model, an answer or an export.

There is one finding for each class. It begins with the first event that names the node, because the
graph does not keep since when a tag is there. A declassification resolves it. It vanishes once no
path exposes the node: each is masked, or no job takes it now. A path over a job that sends no
columns is unknown, and gives no finding; the figure `exposed-artifacts` and `personalData` count
such nodes apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.chunks import chunks
from headwater.governance.personal_data.propagate import Kind, Reached, State
from headwater.governance.personal_data.reach import EndedExposure, Reach, read_reach
from headwater.governance.personal_data.reader import kind_of
from headwater.health.findings.models import Episode
from headwater.lineage.view import GraphView

RULE = "unmasked-personal-data"
_URNS_PER_QUERY_MAX = 1_000
# Urns of a path in the evidence; of a longer one the middle is left out.
_PATH_MAX = 20
_DATASET, _ANSWER = "dataset:", "answer:"
_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class LeavingNode:
    """A node whose data leaves the estate: MODEL, EXPORT or ANSWER, and its first event."""

    kind: str
    since: datetime


def personal_data_episodes(
    view: GraphView, urns: Sequence[str], instant: datetime
) -> dict[str, list[Episode]]:
    """Return the episodes of the models, answers and exports among these nodes, by node."""
    leaving = read_leaving_nodes(view, urns)
    if not leaving:
        return {}
    reach = read_reach(view, today=instant.astimezone(UTC).date())
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in detect_exposures(reach, leaving):
        found[episode.subject].append(episode)
    return found


def detect_exposures(reach: Reach, leaving: dict[str, LeavingNode]) -> Iterator[Episode]:
    """Yield the episodes of these nodes. Pure."""
    for urn, left in leaving.items():
        for one in reach.at.get(urn, ()):
            if one.urn == urn and one.before is not None and one.state is State.EXPOSED:
                yield _episode(one, left, None)
    for ended in reach.ended:
        node = leaving.get(ended.reached.urn)
        if node is not None and ended.reached.before is not None and ended.approval.at > node.since:
            yield _episode(ended.reached, node, ended)


def read_leaving_nodes(view: GraphView, urns: Collection[str]) -> dict[str, LeavingNode]:
    """Return those of these nodes whose data leaves the estate."""
    found: dict[str, LeavingNode] = {}
    wanted = sorted(urn for urn in urns if urn.startswith((_DATASET, _ANSWER)))
    for some in chunks(wanted, _URNS_PER_QUERY_MAX):
        for row in view.read("read/personal_data/artifacts", urns=some):
            is_answer = row["urn"].startswith(_ANSWER)
            kind = kind_of(row["type"], row["tags"])
            if is_answer or kind is not Kind.DATASET:
                name = "ANSWER" if is_answer else kind.name
                found[row["urn"]] = LeavingNode(name, row["since"] or _UNDATED)
    return found


def find_exposable(view: GraphView, urns: Collection[str]) -> set[str]:
    """Return the models, exports and answers among these nodes, and the answers that cite them."""
    found = set(read_leaving_nodes(view, urns))
    border = {urn for urn in found if urn.startswith(_ANSWER)}
    while border:
        after: set[str] = set()
        for some in chunks(sorted(border), _URNS_PER_QUERY_MAX):
            for row in view.read("read/personal_data/citing_answers", urns=some):
                after.update(row["answers"])
        border = after - found
        found |= border
    return found


def _episode(one: Reached, node: LeavingNode, ended: EndedExposure | None) -> Episode:
    path = one.path
    if len(path) > _PATH_MAX:
        half = _PATH_MAX // 2
        path = [*path[:half], *path[-half:]]
    jobs = list(dict.fromkeys(step.job for step in one.steps if step.job))
    return Episode(
        rule=RULE,
        subject=one.urn,
        key=one.classification,
        first_seen=node.since,
        last_seen=ended.approval.at if ended else node.since,
        resolved_at=ended.approval.at if ended else None,
        resolved_by=ended.declassified if ended else None,
        evidence={
            "classification": one.classification,
            "kind": node.kind,
            "path": path,
            "jobs": jobs[-_PATH_MAX:],
        },
    )
