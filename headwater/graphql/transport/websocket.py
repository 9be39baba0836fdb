"""Subscriptions over WebSocket, by the protocol graphql-transport-ws.

A client authenticates in `connection_init` with `{"authorization": "Bearer hw_..."}`, in the header
of the handshake, or by the cookie of a session. Nothing is subscribed before that. The key or the
session of an open connection is checked again every few seconds, so that its end ends its
connections.

| close code | reason |
|---|---|
| 4400 | the message breaks the protocol |
| 4401 | no valid key where one is required, or no connection_init before the first subscription |
| 4403 | the key lacks the scope read |
| 4406 | the client did not offer graphql-transport-ws |
| 4408 | no connection_init in time |
| 4409 | two subscriptions with one id |
| 4429 | too many connections, a second connection_init, or too many messages before the first |
| 1009 | the message is too large |
| 1013 | the client reads nothing, or its key cannot be checked now |

A connection lives on the event loop of the server, which also accepts events. Its subscriptions
run on the event loop of GraphQL. Queries and mutations are refused here; they use HTTP.
`headwater.websocket_protocol` bounds the rate of frames, and closes with 1008 beyond it.

strawberry has a handler of this protocol, which cannot replace this one:

- It runs queries and mutations too, all with the context that the handshake created, so that a
  revoked key could still read and write.
- It decodes a message of any size before any check, and a message that is JSON but no object
  (`[]`) raises inside the server.
- It waits without limit for a client that reads nothing, while messages gather in memory.
- It executes on the event loop of the connection, where a large result delays event intake.
- It closes with 4403 for every refusal, knows no persisted queries and no error codes.

A subclass would override nearly every method of that handler, whose interface is private.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from graphql import GraphQLError
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from strawberry.types.execution import ExecutionResult, PreExecutionError
from strawberry.types.graphql import OperationType

from headwater.access.limits import OverLimitError
from headwater.access.principal import ANONYMOUS, UNAUTHENTICATED, Principal
from headwater.access.principal import Scope as KeyScope
from headwater.errors import HeadwaterError
from headwater.graphql.context import Context, SubscriptionState
from headwater.graphql.errors import error_code
from headwater.graphql.finding_feed import FindingFeed
from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.run_feed import RunFeed
from headwater.graphql.schema import Schema
from headwater.graphql.transport.requests import (
    BODY_BYTES_MAX,
    REQUEST_SECONDS_MAX,
    find_problem,
    parse_json,
)

PROTOCOL = "graphql-transport-ws"
PATH = "/graphql"
CONNECTIONS_MAX = 200
CONNECTIONS_PER_KEY_MAX = 20
SUBSCRIPTIONS_PER_CONNECTION_MAX = 20
SUBSCRIPTIONS_PER_KEY_MAX = 100
INIT_SECONDS_MAX = 10.0
MESSAGES_BEFORE_INIT_MAX = 10
RECHECK_SECONDS = 5.0
SEND_SECONDS_MAX = 10.0
CLOSE_SECONDS_MAX = 1.0
ID_CHARACTERS_MAX = 100
_REASON_CHARACTERS_MAX = 100

JsonMessage = dict[str, Any]
# The place of a subscription within the limits of its caller; to enter it raises OverLimitError.
PlaceFor = Callable[[Scope, Principal], AbstractAsyncContextManager[None]]


class ClosingError(Exception):
    """The end of a connection, with close code and reason; without a code, it has ended already."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


async def _admit_anyone(_connection: HTTPConnection, _path: str, _authorization: str) -> Principal:
    return ANONYMOUS


@dataclass(frozen=True)
class Callers:
    """How callers are identified and limited.

    `authenticate` returns the principal of a connection to a path with an authorization of its own
    or "", or raises UnauthorizedError, ForbiddenError, or UnavailableError.
    """

    authenticate: Callable[[HTTPConnection, str, str], Awaitable[Principal]] = _admit_anyone
    place_for: PlaceFor = lambda *_: nullcontext()


OPEN_TO_ALL = Callers()


@dataclass(frozen=True)
class SharedState:
    """The state that all connections share.

    `create_context` builds the context of one subscription; `graphql_loop` returns the event loop
    of GraphQL. `planning_seconds` returns how much longer the work on a result may take at present.
    """

    schema: Schema
    feed: RunFeed
    finding_feed: FindingFeed
    persisted: PersistedQueries
    callers: Callers
    on_refusal: Callable[[str, str, str], None]
    create_context: Callable[[Principal, SubscriptionState], Context]
    graphql_loop: Callable[[], asyncio.AbstractEventLoop]
    planning_seconds: Callable[[], float]


class WebSocketEndpoint:
    """The ASGI endpoint of all connections."""

    def __init__(self, state: SharedState) -> None:
        self._state = state
        self._open_connections = 0
        # Connections without connection_init, in the order in which they came.
        self._uninitialised: dict[_Connection, None] = {}
        self._connections_by_key: Counter[str] = Counter()
        self._subscriptions_by_key: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection.

        At `CONNECTIONS_MAX` the one that has waited longest for its connection_init makes room; if
        all are initialised, a new one is refused.
        """
        socket = WebSocket(scope, receive, send)
        await socket.receive()
        if self._open_connections >= CONNECTIONS_MAX:
            if not self._uninitialised:
                await socket.close()
                return
            next(iter(self._uninitialised)).make_room()
        self._open_connections += 1
        connection = _Connection(
            socket,
            self._state,
            self._connections_by_key,
            self._subscriptions_by_key,
            self._uninitialised,
        )
        self._uninitialised[connection] = None
        try:
            await connection.run()
        finally:
            self._uninitialised.pop(connection, None)
            self._open_connections -= 1


class _Connection:
    """One connection, from its handshake to its end."""

    def __init__(
        self,
        socket: WebSocket,
        state: SharedState,
        connections_by_key: Counter[str],
        subscriptions_by_key: Counter[str],
        uninitialised: dict[_Connection, None],
    ) -> None:
        self._socket = socket
        self._state = state
        self._connections_by_key = connections_by_key
        self._subscriptions_by_key = subscriptions_by_key
        self._uninitialised = uninitialised
        self._makes_room = asyncio.Event()
        self._principal: Principal = UNAUTHENTICATED
        self._authorization = ""
        self._is_initialised = asyncio.Event()
        self._send_lock = asyncio.Lock()
        self._subscriptions: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Serve the connection until one side ends it, then close the socket."""
        is_offered = PROTOCOL in self._socket.scope["subprotocols"]
        await self._socket.accept(subprotocol=PROTOCOL if is_offered else None)
        ending = ClosingError(None)
        if not is_offered:
            ending = ClosingError(4406, f"the subprotocol must be {PROTOCOL}")
        try:
            if is_offered:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._end_to_make_room())
                    group.create_task(self._check_key_repeatedly())
                    group.create_task(self._receive_messages(group))
        except* ClosingError as closing:
            ending = next(error for error in closing.exceptions if isinstance(error, ClosingError))
        finally:
            if self._is_initialised.is_set():
                self._connections_by_key[self._principal.name] -= 1
        if ending.code is not None:
            with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                async with asyncio.timeout(CLOSE_SECONDS_MAX):
                    await self._socket.close(ending.code, ending.reason[:_REASON_CHARACTERS_MAX])

    def make_room(self) -> None:
        """End a connection that waits for its connection_init, because others want its place."""
        self._uninitialised.pop(self, None)
        self._makes_room.set()

    async def _end_to_make_room(self) -> None:
        await self._makes_room.wait()
        raise ClosingError(1013, "too many connections wait; send connection_init at once")

    async def _check_key_repeatedly(self) -> None:
        """End a connection without connection_init in time, and one whose key has become
        invalid.
        """
        try:
            async with asyncio.timeout(INIT_SECONDS_MAX):
                await self._is_initialised.wait()
        except TimeoutError:
            raise ClosingError(4408, f"no connection_init in {INIT_SECONDS_MAX:g} s") from None
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            await self._authenticate()

    async def _receive_messages(self, group: asyncio.TaskGroup) -> None:
        for count in itertools.count(1):
            message = await self._receive_message()
            if count > MESSAGES_BEFORE_INIT_MAX and not self._is_initialised.is_set():
                raise ClosingError(4429, "too many messages came before connection_init")
            kind, id = message.get("type"), message.get("id")
            if kind == "connection_init":
                await self._initialise(message.get("payload"))
            elif kind == "ping":
                await self._send({"type": "pong"})
            elif kind == "pong":
                pass
            elif not isinstance(id, str) or not 0 < len(id) <= ID_CHARACTERS_MAX:
                raise ClosingError(4400, "the message has an unknown type or no id")
            elif kind == "complete":
                if id in self._subscriptions:
                    self._subscriptions[id].cancel()
            elif kind == "subscribe":
                await self._subscribe(group, id, message.get("payload"))
            else:
                raise ClosingError(4400, "the message has an unknown type")

    async def _receive_message(self) -> JsonMessage:
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            raise ClosingError(None)
        text = message.get("text")
        if text is None:
            raise ClosingError(4400, "the message must be text")
        if len(text) > BODY_BYTES_MAX:
            raise ClosingError(1009, f"the message exceeds {BODY_BYTES_MAX} characters")
        try:
            value = parse_json(text)
        except ValueError:
            raise ClosingError(4400, "the message is not JSON") from None
        if not isinstance(value, dict):
            raise ClosingError(4400, "the message must be a JSON object")
        return value

    async def _initialise(self, payload: Any) -> None:
        """Authenticate the client and acknowledge its connection_init."""
        if self._is_initialised.is_set():
            raise ClosingError(4429, "connection_init was sent twice")
        authorization = payload.get("authorization") if isinstance(payload, dict) else None
        if not isinstance(payload, dict | None) or not isinstance(authorization, str | None):
            raise ClosingError(
                4400, "the payload of connection_init must be an object; `authorization` is text"
            )
        self._authorization = authorization or ""
        self._principal = await self._authenticate()
        if self._connections_by_key[self._principal.name] >= CONNECTIONS_PER_KEY_MAX:
            raise ClosingError(4429, f"the key has {CONNECTIONS_PER_KEY_MAX} connections already")
        self._connections_by_key[self._principal.name] += 1
        self._uninitialised.pop(self, None)
        self._is_initialised.set()
        await self._send({"type": "connection_ack"})

    async def _authenticate(self) -> Principal:
        """Return the principal of the client. Raises ClosingError if it may not subscribe."""
        principal = self._principal
        try:
            principal = await self._state.callers.authenticate(
                self._socket, PATH, self._authorization
            )
            principal.require(KeyScope.READ)
        except HeadwaterError as error:
            if error.status not in (401, 403):
                raise ClosingError(1013, "the key cannot be checked now") from error
            await anyio.to_thread.run_sync(
                self._state.on_refusal, principal.name, "WebSocket /graphql", error.message
            )
            raise ClosingError(4000 + error.status, error.message) from error
        return principal

    async def _subscribe(self, group: asyncio.TaskGroup, id: str, payload: Any) -> None:
        if not self._is_initialised.is_set():
            raise ClosingError(4401, "connection_init must come first")
        if id in self._subscriptions:
            raise ClosingError(4409, f"subscription {id!r} exists already")
        problem = find_problem(payload)
        if problem:
            raise ClosingError(4400, problem)
        if (refusal := await self._refusal_of_subscription()) is not None:
            await self._send(_error_message(id, *refusal))
            return
        task = group.create_task(self._run_subscription(id, payload))
        self._subscriptions[id] = task
        self._subscriptions_by_key[self._principal.name] += 1
        task.add_done_callback(lambda _: self._release(id, task))

    async def _refusal_of_subscription(self) -> tuple[str, str] | None:
        """Return why a further subscription is refused, and the code of its error, or None."""
        if len(self._subscriptions) >= SUBSCRIPTIONS_PER_CONNECTION_MAX:
            most = f"the connection has {SUBSCRIPTIONS_PER_CONNECTION_MAX}"
            return f"{most} subscriptions already", "BAD_REQUEST"
        if self._subscriptions_by_key[self._principal.name] >= SUBSCRIPTIONS_PER_KEY_MAX:
            most = f"the key has {SUBSCRIPTIONS_PER_KEY_MAX}"
            return f"{most} subscriptions already", "BAD_REQUEST"
        try:
            async with self._state.callers.place_for(self._socket.scope, self._principal):
                return None
        except OverLimitError as error:
            return error.message, "TOO_MANY_REQUESTS"

    def _release(self, id: str, task: asyncio.Task[None]) -> None:
        """Release the place and the id of an ended subscription, unless a later one uses the id."""
        self._subscriptions_by_key[self._principal.name] -= 1
        if self._subscriptions.get(id) is task:
            del self._subscriptions[id]

    async def _run_subscription(self, id: str, request: Mapping[str, Any]) -> None:
        """Run one subscription until it completes or is cancelled."""
        server_loop, graphql_loop = asyncio.get_running_loop(), self._state.graphql_loop()

        async def send(text: str, *, is_last: bool) -> None:
            if is_last:
                # The client may use the id again as soon as it reads the last message.
                self._subscriptions.pop(id, None)
            await self._send_text(text)

        async def deliver(message: JsonMessage) -> None:
            text = json.dumps(message, ensure_ascii=False)
            sending = send(text, is_last=message["type"] != "next")
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(sending, server_loop))

        streaming = _stream_results(self._state, self._principal, id, request, deliver)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(streaming, graphql_loop))

    async def _send(self, message: JsonMessage) -> None:
        await self._send_text(json.dumps(message, ensure_ascii=False))

    async def _send_text(self, text: str) -> None:
        """Send one message. A client that reads nothing is disconnected, so that none pile up."""
        try:
            async with asyncio.timeout(SEND_SECONDS_MAX), self._send_lock:
                await self._socket.send_text(text)
        except TimeoutError:
            raise ClosingError(1013, "the client reads nothing") from None
        except (WebSocketDisconnect, RuntimeError, OSError):
            raise ClosingError(None) from None


async def _stream_results(
    state: SharedState,
    principal: Principal,
    id: str,
    request: Mapping[str, Any],
    deliver: Callable[[JsonMessage], Coroutine[Any, Any, None]],
) -> None:
    """Deliver the results of a subscription.

    The work on one result has a time limit; the wait for the next change has none.
    """
    loop = asyncio.get_running_loop()
    seconds = REQUEST_SECONDS_MAX + state.planning_seconds()
    try:
        async with asyncio.timeout(seconds) as limit:

            def set_working(is_working: bool) -> None:
                nonlocal seconds
                seconds = REQUEST_SECONDS_MAX + state.planning_seconds()
                limit.reschedule(loop.time() + seconds if is_working else None)

            stream = await state.schema.stream(
                state.persisted.resolve(request, store=True),
                variable_values=request.get("variables"),
                operation_name=request.get("operationName"),
                context_value=state.create_context(
                    principal, SubscriptionState(state.feed, state.finding_feed, set_working)
                ),
                allowed_operation_types=(OperationType.SUBSCRIPTION,),
            )
            async with aclosing(stream):
                async for result in stream:
                    assert isinstance(result, ExecutionResult)
                    limit.reschedule(None)
                    await deliver(_result_message(id, result))
                    if isinstance(result, PreExecutionError):
                        return
    except TimeoutError:
        message = f"the result exceeded {seconds:g} s"
        await deliver(_error_message(id, message, "TIMEOUT"))
    except HeadwaterError as error:
        await deliver(_error_message(id, error.message, error_code(error)))
    else:
        await deliver({"id": id, "type": "complete"})


def _result_message(id: str, result: ExecutionResult) -> JsonMessage:
    errors = [error.formatted for error in result.errors or ()]
    if isinstance(result, PreExecutionError):
        return {"id": id, "type": "error", "payload": errors}
    payload = {"data": result.data, **({"errors": errors} if errors else {})}
    return {"id": id, "type": "next", "payload": payload}


def _error_message(id: str, message: str, code: str) -> JsonMessage:
    error = GraphQLError(message, extensions={"code": code})
    return {"id": id, "type": "error", "payload": [error.formatted]}
