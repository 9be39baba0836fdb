"""Lists of findings, for a caller who may not see every node.

A finding is visible to a caller who sees the nodes that it discloses: its subject, and what its id
and its class name (`disclosure`). Hidden consumers are neither named nor counted. A stub stands for
the hidden nodes in the evidence and the end, and one for a hidden root.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.health.findings.affected import affected_of, read_affected
from headwater.health.findings.disclosure import disclosed_nodes, nodes_in_id
from headwater.health.findings.models import Affected, Finding
from headwater.health.findings.store import finding_of, is_whole
from headwater.health.findings.visible_evidence import evidence_stub, urns_in, visible_evidence
from headwater.lineage.hidden_nodes import HIDDEN, stub_urn
from headwater.lineage.list_pages import EARLIEST, LATEST, read_time_page
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest
from headwater.lineage.view import GraphView

FINDINGS_PER_NODE_MAX = 20
_URNS_PER_QUERY_MAX = 1_000
# A commit is visible as a whole within milliseconds; a busy machine takes longer.
_REREADS_MAX, _REREAD_PAUSE_SECONDS = 10, 0.05
# For counting the visible consumers of findings that do not name all of them.
_COUNT_SECONDS_MAX = 5.0


@dataclass(frozen=True)
class FindingFilter:
    """Conditions on findings; an empty one matches everything.

    `since` and `until` (exclusive) bound the time in which a finding was open. `root` is the id of
    the finding that caused others.
    """

    open: bool | None = None
    rule: str = ""
    subject: str = ""
    tier: str = ""
    owner: str = ""
    namespace: str = ""
    root: str = ""
    since: datetime | None = None
    until: datetime | None = None


def findings(
    view: GraphView, filter: FindingFilter = FindingFilter(), page: PageRequest = FIRST_PAGE
) -> Page[Finding]:
    """Return a page of findings, newest evidence first. Raises QueryError for a bad cursor."""
    found = read_time_page(view, "read/findings/findings", page, **_parameters(view, filter))
    shown = visible_findings(view, _read_findings(view, found.entries))
    pairs = [
        (shown[row["urn"]], cursor)
        for row, cursor in zip(found.entries, found.cursors, strict=True)
        if row["urn"] in shown
    ]
    return Page(
        [finding for finding, _ in pairs],
        [cursor for _, cursor in pairs],
        found.has_next,
        found.has_previous,
    )


def count_findings(view: GraphView, filter: FindingFilter = FindingFilter()) -> int:
    """Return the number of findings on all pages."""
    [row] = view.read("read/findings/findings_count", **_parameters(view, filter))
    return int(row["count"])


def findings_by_urn(view: GraphView, urns: Sequence[str]) -> dict[str, Finding]:
    """Return the visible ones of these findings by their ids."""
    rows: list[Row] = []
    for some in chunks(list(dict.fromkeys(urns)), _URNS_PER_QUERY_MAX):
        rows += view.read("read/findings/findings_by_urn", urns=some)
    return visible_findings(view, _read_findings(view, rows))


def findings_of(view: GraphView, urns: Iterable[str]) -> dict[str, list[Finding]]:
    """Return the findings of each of these nodes: open ones first, then the newest.

    At most `FINDINGS_PER_NODE_MAX` of a node. A node without findings has an empty list.
    """
    by_subject: dict[str, list[Finding]] = {urn: [] for urn in urns}
    rows: list[Row] = []
    for some in chunks(list(by_subject), _URNS_PER_QUERY_MAX):
        rows += view.read(
            "read/findings/findings_of_subjects",
            urns=some,
            visible=view.visibility.regexes,
            limit=FINDINGS_PER_NODE_MAX,
        )
    shown = visible_findings(view, _read_findings(view, rows))
    for row in rows:
        finding = shown.get(row["properties"]["urn"])
        if finding:
            by_subject[row["subject"]].append(finding)
    return by_subject


def _read_findings(view: GraphView, rows: Iterable[Row]) -> list[Finding]:
    """Return the findings of rows; those that are just being written are read again."""
    found = {row["properties"]["urn"]: row["properties"] for row in rows}
    for _ in range(_REREADS_MAX):
        torn = [urn for urn, properties in found.items() if not is_whole(properties)]
        if not torn:
            break
        time.sleep(_REREAD_PAUSE_SECONDS)
        for row in view.read("read/findings/findings_by_urn", urns=torn):
            found[row["urn"]] = row["properties"]
    return [finding_of(properties) for properties in found.values() if is_whole(properties)]


def _parameters(view: GraphView, filter: FindingFilter) -> dict[str, Any]:
    return {
        "open": filter.open,
        "rule": filter.rule,
        "subject": filter.subject,
        "tier": filter.tier,
        "owner": filter.owner,
        "namespace": filter.namespace,
        "root": _visible_root(view, filter.root),
        "since": filter.since or EARLIEST,
        "until": filter.until or LATEST,
        "visible": view.visibility.regexes,
    }


def _visible_root(view: GraphView, root: str) -> str:
    """Return the root of a filter; of a hidden one the id of no finding, so that none is found."""
    if not root or view.visibility.is_unrestricted or root in findings_by_urn(view, [root]):
        return root
    return HIDDEN


def visible_findings(view: GraphView, found: Sequence[Finding]) -> dict[str, Finding]:
    """Return the findings that the caller may see by their ids, without the names of hidden
    nodes."""
    if view.visibility.is_unrestricted:
        return {finding.id: finding for finding in found}
    disclosed = {finding.id: disclosed_nodes(finding.episode) for finding in found}
    hidden = find_hidden(view, chain.from_iterable(disclosed.values()))
    visible = [finding for finding in found if hidden.isdisjoint(disclosed[finding.id])]
    hidden |= find_hidden(view, chain.from_iterable(map(_urns_of, visible)))
    affected = _visible_affected(view, visible, hidden)
    evidence = visible_evidence(view, [finding.episode for finding in visible], hidden)
    return {
        finding.id: _without(
            replace(finding, affected=affected[finding.id]), evidence[finding.id], hidden
        )
        for finding in visible
    }


def _visible_affected(
    view: GraphView, found: Sequence[Finding], hidden: Collection[str]
) -> dict[str, Affected]:
    """Return the visible ones of those whom findings affect, by the id of the finding."""
    unnamed = [finding.episode for finding in found if not _names_all(finding.affected)]
    affected = read_affected(view, unnamed, seconds=_COUNT_SECONDS_MAX) if unnamed else {}
    for finding in found:
        if finding.id not in affected:
            shown = [one for one in finding.affected.consumers if one.urn not in hidden]
            affected[finding.id] = affected_of(shown, truncated=False)
    return affected


def _names_all(affected: Affected) -> bool:
    total = affected.datasets + affected.jobs + affected.answers
    return not affected.truncated and total <= len(affected.consumers)


def _urns_of(finding: Finding) -> Iterable[str]:
    """Yield the urns of every other node that a finding names."""
    yield from (consumer.urn for consumer in finding.affected.consumers)
    yield from nodes_in_id(finding.root)
    yield from urns_in([finding.episode.evidence, finding.episode.resolved_by])


def _without(finding: Finding, evidence: Mapping[str, Any], hidden: set[str]) -> Finding:
    """Return a finding with this evidence and without the names of hidden nodes."""
    episode, root = replace(finding.episode, evidence=evidence), finding.root
    if episode.resolved_by in hidden:
        episode = replace(episode, resolved_by=evidence_stub(finding.id))
    if hidden.intersection(nodes_in_id(root)):
        root = stub_urn("root", finding.id)
    return replace(finding, episode=episode, root=root)
