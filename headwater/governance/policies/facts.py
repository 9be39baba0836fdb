"""The facts that policies are evaluated on, read for many nodes in a few statements.

The facts of a group of variables (`variables.toml`) are read only if a policy needs them. The
caller sees only visible nodes. A hidden node on a path has no name, and its properties are unknown:
a condition that needs them cannot be assessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.governance.personal_data.reach import unmasked_reach
from headwater.governance.policies.competing import certified_rivals
from headwater.governance.policies.models import (
    SUBJECTS_OF_ACTION,
    Approval,
    Change,
    Facts,
    Subject,
    glob_pattern,
)
from headwater.governance.policies.reached import Reached, read_reached
from headwater.governance.policies.variables import VARIABLES
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.questions.freshness import read_updates
from headwater.lineage.view import GraphView
from headwater.schema.edits import read_approvals
from headwater.schema.tags import CRITICAL_TAGS, has_tag, tag_value

URNS_MAX = 1_000
# A consumer that sent no event for longer than this is not active.
ACTIVE = timedelta(days=90)
COLUMNS_MAX = 1_000
# Upstream datasets that conditions see.
UPSTREAM_MAX = 1_000
CERTIFIED, DEPRECATED = ("certified", "canonical"), ("deprecated",)
_DEPRECATED_STATES = frozenset({"status=deprecated", "lifecycle=deprecated"})
_MODEL = "model"
_REPLACEABLE = "upstream.replaceable"
# The variables for which the versions of datasets and the runs of jobs are read.
_OLDEST = frozenset({"node.oldestSeconds"})
_AGES = _OLDEST | {
    "node.updated",
    "node.ageSeconds",
    "upstream.inputs",
    "upstream.datasets",
    "upstream.sources",
}
# The kinds of node for which it is known which personal data reaches them.
_CLASSIFIED = ("dataset:", "answer:")


@dataclass(frozen=True)
class FactsRequest:
    """Which facts are read, and how.

    needs: the names of the variables that policies read; None: all.
    past: read the lineage as it was at the instant. Owners, tags, types and descriptions are those
      of now: the graph keeps no earlier ones.
    test_consumers: patterns of the namespaces and names of consumers that are tests.
    """

    needs: Collection[str] | None = None
    past: bool = False
    test_consumers: tuple[str, ...] = ()

    def wants(self, group: str) -> bool:
        """Return True if a variable of a group is needed."""
        if self.needs is None:
            return True
        return any(VARIABLES[name].group == group for name in self.needs if name in VARIABLES)

    def needs_any(self, names: Collection[str]) -> bool:
        """Return True if one of these variables is needed."""
        return self.needs is None or not frozenset(names).isdisjoint(self.needs)

    @cached_property
    def test_consumer_pattern(self) -> re.Pattern[str] | None:
        """Return the patterns of test consumers as one; None without any."""
        return glob_pattern(self.test_consumers) if self.test_consumers else None


EVERYTHING = FactsRequest()


@dataclass
class _Read:
    """What was read: rows of nodes by urn, and for each node what is upstream and downstream."""

    instant: datetime
    request: FactsRequest
    rows: dict[str, Row] = field(default_factory=dict)
    reached: dict[str, Reached] = field(default_factory=dict)
    columns: dict[str, list[Row]] = field(default_factory=dict)
    unmasked: dict[str, list[str]] | None = None
    rivals: dict[str, list[str]] | None = None


def read_facts(
    view: GraphView,
    urns: Iterable[str],
    instant: datetime,
    change: Change | None = None,
    request: FactsRequest = EVERYTHING,
) -> dict[str, Facts]:
    """Return the facts of those of these nodes that exist and that the caller may see, by urn.

    Args:
        view: The graph as the caller sees it.
        urns: Datasets, jobs and answers.
        instant: When policies are evaluated; later versions and runs do not count.
        change: A proposed change of these nodes; None: the standing policies.
        request: Which facts are read.
    """
    found: dict[str, Facts] = {}
    for some in chunks(list(dict.fromkeys(urns)), URNS_MAX):
        read = _Read(instant, request)
        with_updated = request.needs_any(_AGES)
        known = _read_rows(view, select_visible(view, some), read, with_updated=with_updated)
        _read_related(view, known, change, read)
        found.update((urn, _facts(urn, read, change)) for urn in known)
    return found


def _read_rows(
    view: GraphView, urns: Iterable[str], read: _Read, *, with_updated: bool
) -> list[str]:
    """Read the properties of nodes that are not read yet; return those that exist."""
    wanted = [urn for urn in urns if not urn.startswith(HIDDEN)]
    unread = [urn for urn in dict.fromkeys(wanted) if urn not in read.rows]
    for some in chunks(unread, URNS_MAX):
        rows = view.read(
            "read/policies/nodes",
            urns=some,
            at=read.instant,
            withUpdated=with_updated,
            withOldest=with_updated and read.request.needs_any(_OLDEST),
        )
        read.rows.update((row["urn"], dict(row)) for row in rows)
    sources = {
        row["source"]: urn
        for urn in unread
        if (row := read.rows.get(urn)) and row["source"] and row["updated"] is None
    }
    for source, times in read_updates(view, list(sources)).items():
        before = [time for time in times if time <= read.instant]
        read.rows[sources[source]]["updated"] = max(before, default=None)
    return [urn for urn in wanted if urn in read.rows]


def _read_related(view: GraphView, urns: Sequence[str], change: Change | None, read: _Read) -> None:
    """Read what is upstream and downstream of nodes, their columns, and personal data."""
    request = read.request
    wants_classes = request.wants("personalData") and not request.past
    is_restricted = not view.visibility.is_unrestricted
    directions = {
        "upstream": request.wants("upstream") or (wants_classes and is_restricted),
        "consumers": request.wants("consumers"),
        "downstream": request.wants("downstream"),
    }
    if any(directions.values()):
        job = change.job if change and change.job and not find_hidden(view, [change.job]) else ""
        read.reached = read_reached(
            view, urns, directions, as_of=read.instant if request.past else None, job=job
        )
        reached = list(read.reached.values())
        upstream = chain.from_iterable(one.urns_upstream for one in reached)
        _read_rows(view, upstream, read, with_updated=request.needs_any(_AGES))
        downstream = chain.from_iterable(one.urns_downstream for one in reached)
        _read_rows(view, downstream, read, with_updated=False)
    if request.needs is None or _REPLACEABLE in request.needs:
        inputs = set(chain.from_iterable(one.inputs for one in read.reached.values()))
        read.rivals = certified_rivals(view, inputs)
    if request.needs is None or "node.columns" in request.needs:
        datasets = [urn for urn in urns if urn.startswith("dataset:")]
        rows = view.read("read/policies/columns", urns=datasets, limit=COLUMNS_MAX)
        read.columns = {row["urn"]: row["columns"] for row in rows}
    if wants_classes:
        reached_by = [urn for urn in urns if urn.startswith(_CLASSIFIED)]
        if is_restricted:
            reached_by = [urn for urn in reached_by if _is_upstream_known(read.reached[urn])]
        read.unmasked = unmasked_reach(view, reached_by, are_canonical=True)


def _facts(urn: str, read: _Read, change: Change | None) -> Facts:
    row = read.rows[urn]
    values = {**_node(row, read), **_change(change)}
    if urn in read.reached:
        reached = read.reached[urn]
        values |= _upstream(urn, reached, read)
        values |= _consumers(reached, read)
        values |= _downstream(reached, read)
    if read.unmasked is not None and urn in read.unmasked:
        values["personalData.unmasked"] = read.unmasked[urn]
    return Facts(urn, _subjects(row["kind"], change), values, _approvals(row))


def _approvals(row: Row) -> tuple[Approval, ...]:
    """Return the approvals of a node; one that is valid until a day ends with that day."""
    found = []
    for one in read_approvals(row["approvals"]):
        until = None
        if one.until is not None:
            try:
                until = datetime.fromisoformat(one.until).replace(tzinfo=UTC) + timedelta(days=1)
            except ValueError:
                continue
        found.append(Approval(one.policy, one.by, one.reason, until))
    return tuple(found)


def _subjects(kind: str, change: Change | None) -> frozenset[Subject]:
    if change is not None:
        return SUBJECTS_OF_ACTION[change.action]
    if kind == "dataset":
        return frozenset((Subject.DATASET, Subject.FLOW))
    return frozenset((Subject(kind),))


def _node(row: Row, read: _Read) -> dict[str, Any]:
    tags = _own_tags(row)
    values = {
        "node.urn": row["urn"],
        "node.kind": row["kind"],
        "node.namespace": row["namespace"],
        "node.name": row["name"] or "",
        "node.type": row["type"] or "",
        "node.tags": tags,
        "node.owners": sorted(row["owners"] or ()),
        "node.description": (row["description"] or "").strip(),
        "node.certified": has_tag(tags, *CERTIFIED),
        "node.critical": _is_critical(row),
        "node.deprecated": _is_deprecated(row),
        "node.dropped": row["dropped"] is not None and row["dropped"] <= read.instant,
        "node.region": tag_value(tags, "region"),
        "node.purpose": tag_value(tags, "purpose"),
        "node.retentionDays": _days(tag_value(tags, "retention")),
        "node.created": row["created"],
        "node.updated": row["updated"],
        "node.ageSeconds": _age(row["updated"], read.instant),
        "node.oldestSeconds": _age(row["oldest"], read.instant),
        "node.columns": read.columns.get(row["urn"]),
    }
    return {name: value for name, value in values.items() if value is not None}


def _change(change: Change | None) -> dict[str, Any]:
    change = change or Change("")
    return {
        "change.action": change.action,
        "change.job": change.job,
        "change.purpose": change.purpose,
        "change.actor": change.actor,
        "change.columns": list(change.columns),
    }


def _upstream(urn: str, reached: Reached, read: _Read) -> dict[str, Any]:
    """Return the variables of what is upstream; a cut search leaves all but the inputs unknown."""
    if reached.upstream is None:
        return {}
    inputs = [_dataset(one, read) for one in reached.inputs]
    values: dict[str, Any] = {"upstream.inputs": inputs}
    if not any(one.startswith(HIDDEN) for one in reached.inputs):
        values["upstream.uncertified"] = [one["urn"] for one in inputs if not one["certified"]]
        if read.rivals is not None:
            values[_REPLACEABLE] = _replaceable(reached.inputs, read.rivals)
    if reached.is_cut or len(reached.upstream) > UPSTREAM_MAX:
        return values
    datasets = [_dataset(one, read) for one in reached.upstream]
    values["upstream.datasets"] = datasets
    if not any(one.startswith(HIDDEN) for one in reached.upstream):
        values["upstream.deprecated"] = [one["urn"] for one in datasets if one["deprecated"]]
    is_source_known = urn.startswith("dataset:") or bool(reached.upstream)
    if is_source_known:
        values["upstream.sources"] = [_dataset(one, read) for one in reached.sources]
    return values


def _is_upstream_known(reached: Reached) -> bool:
    """Return True if the search upstream was complete and met no hidden node."""
    return not reached.is_cut and not any(map(_is_stub, reached.urns_upstream))


def _is_stub(urn: str) -> bool:
    return urn.startswith(HIDDEN)


def _replaceable(inputs: Iterable[str], rivals: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the inputs that compete with a certified dataset that is no input."""
    read = set(inputs)
    return sorted(urn for urn in read if urn in rivals and read.isdisjoint(rivals[urn]))


def _dataset(urn: str, read: _Read) -> dict[str, Any]:
    """Return a dataset as conditions see it; of a hidden one, only a stub."""
    row = read.rows.get(urn)
    if row is None:
        return {"urn": urn}
    tags = _own_tags(row)
    shown = {
        "urn": urn,
        "namespace": row["namespace"],
        "name": row["name"],
        "type": row["type"] or "",
        "tags": tags,
        "certified": has_tag(tags, *CERTIFIED),
        "deprecated": _is_deprecated(row),
        "region": tag_value(tags, "region"),
        "purpose": tag_value(tags, "purpose"),
        "ageSeconds": _age(row["updated"], read.instant),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _consumers(reached: Reached, read: _Read) -> dict[str, Any]:
    """Return the variables of direct consumers. A hidden consumer counts as active."""
    if reached.readers is None:
        return {}
    readers = [urn for urn in reached.readers if not _is_test(read.rows.get(urn), read.request)]
    answers = [urn for urn in reached.citing if urn in read.rows]
    active = [urn for urn in (*readers, *answers) if _is_active(read.rows.get(urn), read.instant)]
    return {
        "consumers.jobs": readers,
        "consumers.answers": answers,
        "consumers.active": len(active),
        "consumers.activeUrns": active,
        "consumers.critical": sum(_is_critical(read.rows.get(urn)) for urn in active),
    }


def _downstream(reached: Reached, read: _Read) -> dict[str, Any]:
    if reached.downstream is None or reached.is_downstream_cut:
        return {}
    nodes = [*reached.downstream, *(urn for urn in reached.answers if urn in read.rows)]
    rows = [read.rows.get(urn) for urn in nodes]
    return {
        "downstream.nodes": len(nodes),
        "downstream.answers": sum(urn.startswith("answer:") for urn in nodes),
        "downstream.certified": sum(
            row is not None and row["kind"] == "dataset" and has_tag(_own_tags(row), *CERTIFIED)
            for row in rows
        ),
        "downstream.critical": sum(_is_critical(row) for row in rows),
    }


def _own_tags(row: Row) -> list[str]:
    """Return the tags of a node itself, without those of its columns."""
    columns = set(row["columns"] or ())
    return [tag for tag in row["tags"] or () if tag.partition(":")[0] not in columns]


def _is_critical(row: Row | None) -> bool:
    if row is None:
        return False
    tags = _own_tags(row)
    return (
        row["kind"] == "answer"
        or (row["type"] or "").lower() == _MODEL
        or has_tag(tags, *CERTIFIED)
        or any(tag.casefold() in CRITICAL_TAGS for tag in tags)
    )


def _is_deprecated(row: Row) -> bool:
    tags = _own_tags(row)
    is_tagged = any(tag.casefold() in _DEPRECATED_STATES for tag in tags)
    return bool(row["deprecated"]) or has_tag(tags, *DEPRECATED) or is_tagged


def _is_test(row: Row | None, request: FactsRequest) -> bool:
    """Return True for a consumer with the tag test, or named so by the setting."""
    if row is None:
        return False
    if has_tag(_own_tags(row), "test"):
        return True
    pattern = request.test_consumer_pattern
    names = (row["namespace"] or "", row["name"] or "")
    return pattern is not None and any(pattern.fullmatch(name) is not None for name in names)


def _is_active(row: Row | None, instant: datetime) -> bool:
    """Return True unless it is known that a consumer is at rest."""
    if row is None or row["lastSeen"] is None:
        return True
    return bool(row["lastSeen"] >= instant - ACTIVE)


def _age(time: datetime | None, instant: datetime) -> int | None:
    return None if time is None else max(0, int((instant - time).total_seconds()))


def _days(text: str) -> int | None:
    """Return the number of days in the tag retention: 365, 365d, 52w."""
    match = re.fullmatch(r"(\d{1,6})\s*([dw]?)", text.strip().lower())
    if match is None:
        return None
    return int(match[1]) * (7 if match[2] == "w" else 1)


def test_consumer_patterns(setting: str) -> tuple[str, ...]:
    """Return the patterns in the setting `test_consumers`, which commas separate."""
    return tuple(part.strip() for part in setting.split(",") if part.strip())
