"""Changes of findings as they happen, from an API over WebSocket.

The subscription says at once that something changed. A list of the open findings is compared with
what was handled after each connection and now and then, so a lost message or a restart of the
server loses no change, and no change is reported twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.backoff import Backoff
from headwater.client.address import Address
from headwater.client.backend import data_of_answer, read_document
from headwater.client.remote import RemoteBackend
from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from websockets.sync.connection import Connection

PROTOCOL = "graphql-transport-ws"
COMPARE_SECONDS = 60.0
# The subscription begins with the poll after this; changes before it are found by comparing.
FIRST_COMPARE_SECONDS = 5.0
ANSWER_SECONDS_MAX = 20.0
PAGE_SIZE = 200
PAGES_MAX = 100
MESSAGE_BYTES_MAX = 16_000_000
BACKOFF = Backoff(first_seconds=0.5, max_seconds=30.0)
_REFUSED = {4401: UnauthorizedError, 4403: ForbiddenError}
_PASSING = ("TOO_SLOW", "UNAVAILABLE", "TIMEOUT", "INTERNAL")


@dataclass(frozen=True)
class FindingChange:
    """A change of a finding: OPENED, CHANGED, RESOLVED or WITHDRAWN.

    `finding` has the fields of GraphQL; it is None if the finding was withdrawn.
    """

    id: str
    kind: str
    finding: Mapping[str, Any] | None

    @property
    def state(self) -> str:
        """Return the severity of an open finding, "" of another."""
        is_open = self.finding is not None and self.finding["resolvedAt"] is None
        return str(self.finding["severity"]) if self.finding and is_open else ""


class FindingWatch:
    """The changes of the findings that match, from now on.

    `with_existing` reports the findings that are open already. A caller marks each change as
    handled with `done`; one that is not marked comes again when the findings are next compared.
    """

    def __init__(
        self,
        address: Address,
        *,
        rule: str | None = None,
        tier: str | None = None,
        namespace: str | None = None,
        with_existing: bool = False,
    ) -> None:
        self._address = address
        self._backend = RemoteBackend(address)
        self._filter = {"rule": rule, "tier": tier, "namespace": namespace}
        # The severity of each open finding that was handled, by its id.
        self._handled: dict[str, str] | None = {} if with_existing else None
        self._failures = 0

    def changes(
        self, on_ready: Callable[[int], None] = lambda _: None
    ) -> Iterator[FindingChange | UnavailableError]:
        """Yield each change, and an error each time that the connection is lost.

        `on_ready` takes the number of open findings when later changes are sure to be reported.

        Raises the errors that no later attempt helps against: a key that is refused, a filter
        that is wrong, a server that cannot be reached at first.
        """
        is_first = True
        while True:
            try:
                with self._connected() as connection:
                    for change in self._followed(connection):
                        if change is not None:
                            yield change
                        elif is_first:
                            on_ready(len(self._handled or ()))
                        self._failures = 0
                        is_first = is_first and change is not None
            except UnavailableError as error:
                if is_first:
                    raise
                yield error
            time.sleep(BACKOFF.pause_seconds(self._failures))
            self._failures += 1

    def done(self, change: FindingChange) -> None:
        """Record that a change was handled."""
        assert self._handled is not None
        if change.state:
            self._handled[change.id] = change.state
        else:
            self._handled.pop(change.id, None)

    def _connected(self) -> Connection:
        """Return a connection after its acknowledgement, with the subscription requested."""
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect
        from websockets.typing import Subprotocol

        url = "ws" + self._address.url.removeprefix("http") + "/graphql"
        key = self._address.api_key
        try:
            connection = connect(
                url,
                subprotocols=[Subprotocol(PROTOCOL)],
                max_size=MESSAGE_BYTES_MAX,
                max_queue=None,
                open_timeout=ANSWER_SECONDS_MAX,
            )
            init = {"authorization": f"Bearer {key}"} if key else {}
            connection.send(json.dumps({"type": "connection_init", "payload": init}))
            connection.recv(timeout=ANSWER_SECONDS_MAX)
            payload = {"query": read_document("finding_changes"), "variables": self._filter}
            connection.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
        except (OSError, TimeoutError, WebSocketException) as error:
            raise _error_of(self._address, error) from error
        return connection

    def _followed(self, connection: Connection) -> Iterator[FindingChange | None]:
        """Yield the changes of one connection; None when there is nothing to handle."""
        from websockets.exceptions import WebSocketException

        yield from self._compared()
        compare_at = time.monotonic() + FIRST_COMPARE_SECONDS
        while True:
            wait = max(0.0, compare_at - time.monotonic())
            try:
                message = json.loads(connection.recv(timeout=wait))
            except TimeoutError:
                yield from self._compared()
                compare_at = time.monotonic() + COMPARE_SECONDS
                continue
            except (OSError, WebSocketException) as error:
                raise _error_of(self._address, error) from error
            yield from self._of_message(message)

    def _of_message(self, message: Mapping[str, Any]) -> Iterator[FindingChange]:
        if message.get("type") == "error":
            raise _refusal(message["payload"])
        if message.get("type") != "next":
            return
        found = data_of_answer(message["payload"])["findingChanges"]
        yield from self._new(FindingChange(found["id"], found["change"], found["finding"]))

    def _compared(self) -> Iterator[FindingChange | None]:
        """Yield how the open findings differ from those that were handled."""
        found = {one["id"]: one for one in self._read_open()}
        if self._handled is None:
            self._handled = {id: one["severity"] for id, one in found.items()}
        for id in [id for id in self._handled if id not in found]:
            yield from self._gone(id)
        for id, one in found.items():
            yield from self._new(FindingChange(id, "OPENED", one))
        yield None

    def _gone(self, id: str) -> Iterator[FindingChange]:
        """Yield the end of a finding that is not among the open ones."""
        assert self._handled is not None
        try:
            one = self._backend.ask("finding", id=id, first=0)["finding"]
        except NotFoundError:
            yield from self._new(FindingChange(id, "WITHDRAWN", None))
            return
        if one["resolvedAt"] is None:
            # It no longer matches the filter.
            del self._handled[id]
            return
        yield from self._new(FindingChange(id, "RESOLVED", one))

    def _new(self, change: FindingChange) -> Iterator[FindingChange]:
        """Yield a change unless it was handled."""
        assert self._handled is not None
        before = self._handled.get(change.id, "")
        if change.state == before:
            return
        kind = change.kind
        if change.state:
            kind = "CHANGED" if before else "OPENED"
        yield FindingChange(change.id, kind, change.finding)

    def _read_open(self) -> Iterator[dict[str, Any]]:
        after = None
        for _ in range(PAGES_MAX):
            found = self._backend.ask(
                "findings", open=True, **self._filter, first=PAGE_SIZE, after=after
            )["findings"]
            yield from (edge["node"] for edge in found["edges"])
            if not found["pageInfo"]["hasNextPage"]:
                return
            after = found["pageInfo"]["endCursor"]


def _refusal(errors: Any) -> HeadwaterError:
    """Return the error of a subscription that the server ended."""
    first: Mapping[str, Any] = errors[0] if errors else {}
    code = str((first.get("extensions") or {}).get("code"))
    kind = UnavailableError if code in _PASSING else QueryError
    return kind(str(first.get("message") or "the server ended the subscription"))


def _error_of(address: Address, error: Exception) -> HeadwaterError:
    """Return the error of a connection that was refused or lost."""
    code = getattr(getattr(error, "rcvd", None), "code", None)
    reason = getattr(getattr(error, "rcvd", None), "reason", "")
    refused = _REFUSED.get(code or 0)
    if refused:
        return refused(f"{address.url}: {reason}", hint="Name a key that may read.")
    return UnavailableError(
        f"the connection to {address.url} is lost: {reason or error or type(error).__name__}",
        hint="Check the address and that the server runs.",
    )
