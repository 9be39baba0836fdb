"""The stage of a story: what asks Headwater, compares the answers, and records the steps.

Waits have no fixed limit. They end when a condition holds, or when neither the number of waiting
events nor the answer has changed for a long time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from headwater.client.address import Address
from headwater.client.remote import RemoteBackend
from headwater.errors import EventError
from headwater.scenarios.inbox import Inbox
from headwater.scenarios.spark_workshop import SparkWorkshop
from headwater.scenarios.truth import Truth
from headwater.scenarios.workshop import Workshop
from headwater.transport import HttpSender, bearer_headers

T = TypeVar("T")
STALL_SECONDS = 180.0
POLL_SECONDS = 0.3
SEND_PAUSES = (1.0, 2.0, 4.0, 8.0)
FINDINGS_MAX = 200
JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """The Headwater that a story runs against, and where its alerts arrive."""

    url: str
    inbox: Inbox
    api_key: str = ""


@dataclass
class Step:
    """One step: what was expected, what was found, and the seconds until then."""

    name: str
    text: str
    expected: Any = None
    found: Any = None
    ok: bool = True
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list)


def _show_nothing(step: Step) -> None:
    del step


def send_events(target: Target, events: Sequence[JsonObject]) -> None:
    """Send a batch of events. Raise EventError if one of them is refused."""
    sender = HttpSender(timeout_seconds=60, pauses=SEND_PAUSES, uses_proxies=False)
    headers = bearer_headers(target.api_key, "application/x-ndjson")
    body = "\n".join(json.dumps(event) for event in events).encode()
    answer = sender.post(f"{target.url}/api/v1/lineage/batch", body, headers)
    refused = json.loads(answer.body).get("failed_events") if answer.is_success else answer.text()
    if refused:
        raise EventError(f"{target.url} refused events of the story: {str(refused)[:500]}")


def send_spans(target: Target, request: JsonObject) -> None:
    """Send an export request of OTLP. Raise EventError if a span is refused."""
    sender = HttpSender(timeout_seconds=60, pauses=SEND_PAUSES, uses_proxies=False)
    headers = bearer_headers(target.api_key, "application/json")
    answer = sender.post(f"{target.url}/v1/traces", json.dumps(request).encode(), headers)
    refused = json.loads(answer.body).get("partialSuccess") if answer.is_success else answer.text()
    if refused:
        raise EventError(f"{target.url} refused spans of the story: {str(refused)[:500]}")


def open_workshop(
    namespace: str, folder: Path, target: Target, *, uses_spark: bool = False
) -> Workshop:
    """Return a workshop that sends its events and spans to a target, for use in a `with` block.

    Args:
        namespace: The namespace of its jobs.
        folder: The folder of its files.
        target: Where events and spans go.
        uses_spark: Whether the jobs run on Spark.
    """
    if uses_spark:
        return SparkWorkshop(namespace, folder, lambda events: send_events(target, events))
    return Workshop(
        namespace,
        folder,
        lambda events: send_events(target, events),
        send_spans=lambda request: send_spans(target, request),
        uses_servers=True,
    )


class Stage:
    """A story on a running Headwater.

    `steps` has what happened so far; `on_step` is called with each step when it is complete.
    """

    def __init__(
        self,
        truth: Truth,
        target: Target,
        workshop: Workshop,
        *,
        on_step: Callable[[Step], None] = _show_nothing,
        pause_seconds: float = 0.0,
    ) -> None:
        self.truth = truth
        self.target = target
        self.workshop = workshop
        self.steps: list[Step] = []
        self._on_step = on_step
        self._pause_seconds = pause_seconds
        self.backend = RemoteBackend(Address(target.url, target.api_key), retries=2)

    @property
    def ok(self) -> bool:
        """Return True if every step so far found what was expected."""
        return all(step.ok for step in self.steps)

    @contextmanager
    def step(self, name: str, text: str) -> Iterator[Step]:
        """Record a step; its block fills it in."""
        step, began = Step(name, text), time.monotonic()
        yield step
        step.seconds = time.monotonic() - began
        self.steps.append(step)
        self._on_step(step)
        time.sleep(self._pause_seconds)

    def play(self, act: Callable[[Workshop], None]) -> None:
        """Run a part of the story, send its events, and wait until the graph has them."""
        act(self.workshop)
        self.workshop.flush()
        self.wait_folded()

    def wait_folded(self) -> None:
        """Wait until no accepted event waits."""
        self.wait(self.backend.count_waiting_events, lambda count: count == 0)

    def wait(self, read: Callable[[], T], is_done: Callable[[T], object]) -> T:
        """Return what `read` returns when that is done, or when nothing changes any more."""
        found, changed_at = read(), time.monotonic()
        while not is_done(found) and time.monotonic() - changed_at < STALL_SECONDS:
            time.sleep(POLL_SECONDS)
            newest = read()
            if newest != found:
                found, changed_at = newest, time.monotonic()
        return found

    def findings(self, *, is_open: bool | None = True) -> list[JsonObject]:
        """Return the findings of tier P1 and P2 on the nodes of the story."""
        own = {self.workshop.urn(node) for node in self._nodes()}
        prefixes = self.workshop.urn_prefixes
        return [
            one
            for one in self.list_findings(open=is_open)
            if one["severity"] != "P3" and (one["urn"] in own or one["urn"].startswith(prefixes))
        ]

    def list_findings(self, **filter: Any) -> list[JsonObject]:
        """Return the findings of any tier and any node that a filter matches."""
        asked = self.backend.ask("findings", **{**_NO_FILTER, **filter}, first=FINDINGS_MAX)
        return [edge["node"] for edge in asked["findings"]["edges"]]

    def _nodes(self) -> set[str]:
        truth = self.truth
        return {node for _, node in truth.findings} | {truth.symptom} | truth.consumers

    def found(self, listed: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
        """Return rule and node of findings."""
        return {(one["rule"], self.short(one["urn"])) for one in listed}

    def short(self, urn: str) -> str:
        """Return a urn of the story as `kind:name`."""
        return self.workshop.short(urn)


_NO_FILTER: dict[str, None] = dict.fromkeys(
    ("rule", "tier", "urn", "owner", "namespace", "root", "since", "until", "after")
)
