"""An alert as text that a tired person understands in ten seconds.

The first line is the title. Then come, one a line: since when, who is affected, whom to call, why,
what to do, and where to look. `alert_lines` decides the words once; each format adds its marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, TypeGuard

from headwater.health.alerts.facts import NO_FACTS, AlertFacts
from headwater.health.alerts.headlines import headline, short_name
from headwater.health.alerts.links import links_of
from headwater.health.alerts.models import Alert, Status
from headwater.health.findings.models import Consumer, Finding
from headwater.schema.urns import KINDS

CONSUMERS_SHOWN = 5
FINDINGS_SHOWN = 5
ITEMS_SHOWN = 3
TRACES_SHOWN = 3
STEPS_SHOWN = 6
_URGENCY = {"P1": "now", "P2": "today", "P3": "when there is time"}
# Texts that only a program reads.
_URNS = tuple(f"{kind}:" for kind in (*KINDS, "finding", "hidden"))
# Parts of the evidence: who is named by other lines, how many items a list has, and of each item
# what it is about, in this order, or the node instead.
_PEOPLE = frozenset({"consumers", "outputs", "readers", "owners"})
_COUNTS = frozenset({"count", "readerCount", "unusedLost"})
_NAMES = ("check", "measure", "column", "name")
_NODES = ("job", "dataset", "urn")
_FIRST = ("value", "mean")
_LINK_NAMES = {
    "page": "Page",
    "lineage": "Lineage",
    "runbook": "What to do",
}


class Line(NamedTuple):
    """A line of a message: a label, and the text after it."""

    label: str
    text: str


class AlertText(NamedTuple):
    """A message without marks: its title, its lines, and its links by name."""

    title: str
    lines: list[Line]
    links: Mapping[str, str]


def alert_text(alert: Alert, facts: AlertFacts = NO_FACTS, public_url: str = "") -> AlertText:
    """Return an alert in words."""
    links = {_LINK_NAMES[name]: url for name, url in links_of(alert.head, public_url).items()}
    if alert.status is Status.RESOLVED:
        return AlertText(f"Resolved: {alert.title}", list(_resolved_lines(alert)), links)
    title = f"{alert.tier}: {alert.title}"
    return AlertText(title, list(_firing_lines(alert, facts)), links)


def plain(text: AlertText) -> str:
    """Return a message as plain text."""
    lines = [text.title, *(f"{line.label}: {line.text}" for line in text.lines)]
    return "\n".join(lines + [f"{name}: {url}" for name, url in text.links.items()])


def markdown(text: AlertText) -> str:
    """Return a message as Markdown."""
    lines = [f"**{_escaped(text.title)}**", ""]
    lines += [f"- **{line.label}**: {_escaped(line.text)}" for line in text.lines]
    links = " · ".join(f"[{name}]({url})" for name, url in text.links.items())
    return "\n".join([*lines, *(["", links] if links else [])])


def _firing_lines(alert: Alert, facts: AlertFacts) -> Iterable[Line]:
    yield Line("Since", f"{_instant(alert.since)}. Act {_URGENCY[alert.tier]}.")
    if alert.consumers:
        yield Line("Affected", _consumers_text(alert))
    yield Line("Owners", ", ".join(alert.owners[:CONSUMERS_SHOWN]) or "none known")
    if why := _evidence_text(alert.head):
        yield Line("Evidence", why)
    if others := _consequences_text(alert):
        yield Line("It led to", others)
    yield from _fact_lines(facts)


def _fact_lines(facts: AlertFacts) -> Iterable[Line]:
    if facts.causes:
        yield Line("Likely cause", "; ".join(one.text for one in facts.causes))
    if facts.violations:
        yield Line("Recent violations", "; ".join(one.text for one in facts.violations))
    ages = [
        f"{short_name(one.dataset)} is from {_instant(one.newest_at)}"
        for one in facts.freshness
        if one.newest_at is not None
    ]
    if ages:
        yield Line("Data upstream", "; ".join(ages))
    successes = [
        f"{short_name(one.node)} at {_instant(one.at)}"
        for one in facts.last_successes
        if one.at is not None
    ]
    if successes:
        yield Line("Last success", "; ".join(successes))
    if facts.replay is not None and facts.replay.steps:
        steps = [" and ".join(map(short_name, step)) for step in facts.replay.steps]
        yield Line("Run again", _first(steps, STEPS_SHOWN, separator=", then "))
    if facts.traces:
        traces = [one.url or one.trace_id for one in facts.traces]
        yield Line("Traces", _first(traces, TRACES_SHOWN, separator=", "))


def _resolved_lines(alert: Alert) -> Iterable[Line]:
    if alert.merged_into:
        yield Line("Why", "its cause is known by now; the alert of the cause goes on")
        return
    ended = f" to {_instant(alert.resolved_at)}" if alert.resolved_at else ""
    yield Line("Lasted", f"{_instant(alert.since)}{ended}")
    by = alert.head.episode.resolved_by
    if by:
        yield Line("Ended by", by)


def _consumers_text(alert: Alert) -> str:
    shown = alert.consumers[:CONSUMERS_SHOWN]
    more = alert.more_consumers + len(alert.consumers) - len(shown)
    names = ", ".join(_consumer_text(one) for one in shown)
    return f"{names} and {more:,} more" if more else names


def _consumer_text(consumer: Consumer) -> str:
    kind = consumer.urn.partition(":")[0]
    critical = "critical " if consumer.is_critical else ""
    return f"{critical}{kind} {short_name(consumer.urn)}"


def _consequences_text(alert: Alert) -> str:
    others = [one for one in alert.findings if one is not alert.head and one.is_open]
    texts = [headline(one.episode.rule, one.episode.subject) for one in others]
    return _first(texts, FINDINGS_SHOWN, more=alert.more_findings)


def _evidence_text(finding: Finding) -> str:
    """Return the evidence in a line: what is listed, item by item, then numbers and texts."""
    evidence = finding.episode.evidence
    has_list = any(isinstance(value, list | tuple) for value in evidence.values())
    listed = [
        f"{_words(name)} {_first(items, ITEMS_SHOWN, separator=', ')}"
        for name, value in evidence.items()
        if name not in _PEOPLE and isinstance(value, list | tuple)
        if (items := [text for one in value if (text := _item_text(one))])
    ]
    values = [
        f"{_words(name)} {_value(value)}"
        for name, value in evidence.items()
        if _is_plain(value) and not (has_list and name in _COUNTS)
    ]
    return "; ".join([*listed, *values][:FINDINGS_SHOWN])


def _item_text(item: object) -> str:
    """Return an item of a list in words; an object as its values without those that are nodes."""
    if isinstance(item, Mapping):
        return _fields_text(item)
    if isinstance(item, str) and item.startswith(_URNS):
        return short_name(item)
    return _value(item) if isinstance(item, str | int | float) else ""


def _fields_text(item: Mapping[str, object]) -> str:
    """Return an object: its name or names first, then the values, each with its name."""
    names = [str(item[name]) for name in _NAMES if item.get(name)]
    values = [
        f"{_words(name)} {_value(value)}"
        for name, value in sorted(item.items(), key=lambda one: one[0] not in _FIRST)
        if name not in _NAMES and _is_plain(value)
    ]
    if item.get("before") and not item.get("after"):
        values.append("gone")
    if not names and not values:
        names = [short_name(str(item[name])) for name in _NODES if item.get(name)]
    found = " of ".join(names)
    return f"{found} ({', '.join(values)})" if found and values else found or ", ".join(values)


def _is_plain(value: object) -> TypeGuard[float | str]:
    if isinstance(value, str):
        return bool(value) and not value.startswith(_URNS)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return value if len(value) <= 200 else f"{value[:199]}…"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"


def _words(name: str) -> str:
    """Return a name in camel case as words."""
    return "".join(f" {one.lower()}" if one.isupper() else one for one in name).strip()


def _first(texts: list[str], limit: int, *, separator: str = "; ", more: int = 0) -> str:
    left = max(len(texts) - limit, 0) + more
    shown = separator.join(texts[:limit])
    return f"{shown} and {left:,} more" if left else shown


def _instant(instant: datetime | None) -> str:
    return "an unknown time" if instant is None else f"{instant:%Y-%m-%d %H:%M} UTC"


def _escaped(text: str) -> str:
    r"""Return text in which Markdown marks have no meaning."""
    return "".join(f"\\{one}" if one in "\\`*_[]<>#|" else one for one in text)
