"""Lists of findings, for a caller who may not see every node.

A finding is visible to a caller who sees its subject. Hidden consumers are neither named nor
counted; urns of hidden nodes in the evidence, the root and the end become stubs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.health.findings.affected import affected_of, read_affected
from headwater.health.findings.models import Affected, Finding
from headwater.health.findings.store import finding_of, is_whole
from headwater.lineage.hidden_nodes import stub_urn
from headwater.lineage.list_pages import EARLIEST, LATEST, read_time_page
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

FINDINGS_PER_NODE_MAX = 20
_URNS_PER_QUERY_MAX = 1_000
# A commit is visible as a whole within milliseconds; a busy machine takes longer.
_REREADS_MAX, _REREAD_PAUSE_SECONDS = 10, 0.05
_URN = re.compile(r"[a-z]+:\S+")
_STUB = "finding"
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
            "read/findings/findings_of_subjects", urns=some, limit=FINDINGS_PER_NODE_MAX
        )
    shown = visible_findings(view, _read_findings(view, rows))
    for row in rows:
        finding = shown.get(row["properties"]["urn"])
        if finding:
            by_subject[row["subject"]].append(finding)
    return by_subject


def subject_of(finding_urn: str) -> str:
    """Return the urn of the node that a finding is about, from the id of the finding."""
    return finding_urn.split(":", 2)[-1].partition("@")[0]


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
        "root": filter.root,
        "since": filter.since or EARLIEST,
        "until": filter.until or LATEST,
        "visible": view.visibility.regexes,
    }


def visible_findings(view: GraphView, found: Sequence[Finding]) -> dict[str, Finding]:
    """Return the findings with a visible subject by their ids, without the names of hidden
    nodes."""
    if view.visibility.is_unrestricted:
        return {finding.id: finding for finding in found}
    subjects = [finding.episode.subject for finding in found]
    hidden = find_hidden(view, filter(_is_urn, subjects))
    visible = [
        finding
        for finding in found
        if _is_urn(finding.episode.subject) and finding.episode.subject not in hidden
    ]
    named: set[str] = set()
    for finding in visible:
        named.update(_urns_of(finding))
    hidden |= find_hidden(view, named)
    affected = _visible_affected(view, visible, hidden)
    return {
        finding.id: _without(replace(finding, affected=affected[finding.id]), hidden, view)
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
    yield from filter(_is_urn, [subject_of(finding.root)])
    yield from _urns_in([finding.episode.evidence, finding.episode.resolved_by])


def _urns_in(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        if _is_urn(value):
            yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _urns_in(key)
            yield from _urns_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _urns_in(item)


def _is_urn(text: str) -> bool:
    if not _URN.fullmatch(text):
        return False
    try:
        parse_urn(text)
    except QueryError:
        return False
    return True


def _without(finding: Finding, hidden: set[str], view: GraphView) -> Finding:
    """Return a finding without the names of hidden nodes."""
    episode = finding.episode
    pruned = view.visibility.prune(dict(episode.evidence))
    evidence = {
        _stubbed(key, hidden): _stubbed_value(value, hidden) for key, value in pruned.items()
    }
    root = finding.root
    subject = subject_of(root)
    if subject in hidden or (subject != episode.subject and not _is_urn(subject)):
        root = stub_urn(_STUB, root)
    by = episode.resolved_by
    return replace(
        finding,
        episode=replace(
            episode, evidence=evidence, resolved_by=by if by is None else _stubbed(by, hidden)
        ),
        root=root,
    )


def _stubbed(text: str, hidden: set[str]) -> str:
    return stub_urn(_STUB, text) if text in hidden else text


def _stubbed_value(value: Any, hidden: set[str]) -> Any:
    """Return a value of the evidence with stubs; an object about a hidden node keeps its urns
    only."""
    if isinstance(value, str):
        return _stubbed(value, hidden)
    if isinstance(value, list | tuple):
        return [_stubbed_value(item, hidden) for item in value]
    if isinstance(value, Mapping):
        about = [item for item in [*value, *value.values()] if isinstance(item, str)]
        items = value.items()
        if hidden.intersection(about):
            items = {
                key: item for key, item in items if isinstance(item, str) and _is_urn(item)
            }.items()
        return {_stubbed(key, hidden): _stubbed_value(item, hidden) for key, item in items}
    return value
