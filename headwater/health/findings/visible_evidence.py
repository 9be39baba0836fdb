"""The evidence of findings for a caller who may not see every node.

One stub stands for all hidden nodes in the evidence of a finding. It is a hash of the finding's id,
so it neither confirms a hidden name nor counts anything. Hidden readers are not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from headwater.health.findings.datasets.detect import detect_dataset
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.health.findings.disclosure import is_urn
from headwater.health.findings.models import Episode
from headwater.lineage.hidden_nodes import stub_urn
from headwater.lineage.view import GraphView

_READERS, _CAUSES, _PATH = "readers", "causes", "path"
# Where visible readers alone would be no problem.
_NO_READERS: Mapping[str, Any] = {_READERS: [], "count": 0, "readerCount": 0}


def visible_evidence(
    view: GraphView, episodes: Sequence[Episode], hidden: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return the evidence of these episodes without hidden nodes, by the id of the finding."""
    # Where a detector listed some readers only, hidden ones may stand in the place of visible ones.
    cut = [one for one in episodes if _lists_some_readers(one.evidence)]
    readers = _evidence_of_visible_readers(view, cut)
    shown: dict[str, dict[str, Any]] = {}
    for one in episodes:
        pruned = view.visibility.prune(dict(one.evidence))
        stub = evidence_stub(one.id)
        evidence = {name: _shown(name, value, hidden, stub) for name, value in pruned.items()}
        if _READERS in evidence:
            _set_readers(evidence, readers.get(one.id), stub)
        elif any(_has_stub(cause, stub) for cause in evidence.get(_CAUSES, ())):
            evidence["count"] = len(evidence[_CAUSES])
        shown[one.id] = evidence
    return shown


def evidence_stub(finding_id: str) -> str:
    """Return the urn that stands for each hidden node in the evidence of a finding."""
    return stub_urn("evidence", finding_id)


def urns_in(value: Any) -> Iterator[str]:
    """Yield each urn of a node in a value of the evidence."""
    if isinstance(value, str):
        if is_urn(value):
            yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from urns_in(key)
            yield from urns_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from urns_in(item)


def _shown(name: str, value: Any, hidden: Collection[str], stub: str) -> Any:
    """Return a named value with the stub for hidden nodes; an object about a hidden node keeps its
    urns only."""
    if isinstance(value, str):
        return stub if value in hidden else value
    if isinstance(value, list | tuple):
        items = [_shown("", item, hidden, stub) for item in value]
        return _path(items, stub) if name == _PATH else _visible_first(items, stub)
    if isinstance(value, Mapping):
        texts = [item for item in [*value, *value.values()] if isinstance(item, str)]
        items_of = value.items()
        if any(text in hidden for text in texts):
            items_of = {
                key: item for key, item in items_of if isinstance(item, str) and is_urn(item)
            }.items()
        return {
            stub if key in hidden else key: _shown(key, item, hidden, stub)
            for key, item in items_of
        }
    return value


def _path(urns: Sequence[str], stub: str) -> list[str]:
    """Return a path in which one stub stands for hidden nodes in a row."""
    before = [None, *urns]
    return [
        urn for urn, last in zip(urns, before, strict=False) if not (urn == stub and last == stub)
    ]


def _visible_first(items: Iterable[Any], stub: str) -> list[Any]:
    """Return the items of a list, and once each of those that show a stub: the place of a hidden
    node in an order of names would disclose a part of its name."""
    visible: list[Any] = []
    others: list[Any] = []
    for item in items:
        if not _has_stub(item, stub):
            visible.append(item)
        elif item not in others:
            others.append(item)
    return [*visible, *others]


def _has_stub(item: Any, stub: str) -> bool:
    return item == stub or (isinstance(item, Mapping) and stub in item.values())


def _lists_some_readers(evidence: Mapping[str, Any]) -> bool:
    readers = evidence.get(_READERS)
    return readers is not None and evidence[_count_name(evidence)] > len(readers)


def _count_name(evidence: Mapping[str, Any]) -> str:
    return "readerCount" if "readerCount" in evidence else "count"


def _set_readers(evidence: dict[str, Any], visible: Mapping[str, Any] | None, stub: str) -> None:
    """Set the visible readers and their number; `visible` has them if not all are listed."""
    listed, count = evidence[_READERS], _count_name(evidence)
    shown = [one for one in listed if not _has_stub(one, stub)]
    hidden = [one for one in listed if _has_stub(one, stub)]
    number = len(shown)
    if visible is not None:
        shown, number = visible[_READERS], visible[count]
        hidden = [_hidden_reader(listed[0], stub)] if evidence[count] > number else []
    evidence[_READERS] = [*shown, *hidden]
    evidence[count] = number


def _hidden_reader(like: Any, stub: str) -> Any:
    return {"job": stub} if isinstance(like, Mapping) else stub


def _evidence_of_visible_readers(
    view: GraphView, episodes: Sequence[Episode]
) -> dict[str, Mapping[str, Any]]:
    """Return the evidence that these episodes would have if only visible jobs existed."""
    if not episodes:
        return {}
    now, found = datetime.now(UTC), dict[str, Mapping[str, Any]]()
    histories = read_dataset_histories(view, {one.subject for one in episodes}, now)
    for history in histories:
        found.update((one.id, one.evidence) for one in detect_dataset(history, now))
    return {one.id: found.get(one.id, _NO_READERS) for one in episodes}
