"""Subscriptions over WebSocket, by the protocol graphql-transport-ws.

Whoever connects says who it is in `connection_init`, as `{"authorization": "Bearer hw_..."}`, or in the header of the
handshake. Nothing is subscribed to before that. A key is looked at again every few seconds for as long as its
connection lasts, so that one which is revoked or expires is cut off.

| closed with | because |
|---|---|
| 4400 | what was sent is no message of the protocol |
| 4401 | no valid key where one is needed, or no connection_init before the first subscription |
| 4403 | the key has not the scope read |
| 4406 | graphql-transport-ws was not among the protocols offered |
| 4408 | connection_init did not come in time |
| 4409 | two subscriptions of one id |
| 4429 | too many connections, or a second connection_init |
| 1009 | a message is too large |
| 1013 | the client takes nothing, or its key cannot be looked at just now |

A connection lives on the event loop of the server, which also accepts events; what it subscribes to is parsed, read
and written as JSON on the loop of GraphQL. Only subscriptions are taken here; questions go by HTTP.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
from graphql import GraphQLError
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from strawberry.types.execution import ExecutionResult, PreExecutionError
from strawberry.types.graphql import OperationType

from headwater.access.principal import UNAUTHENTICATED, Principal
from headwater.access.principal import Scope as KeyScope
from headwater.errors import HeadwaterError
from headwater.graphql.context import Context, Told
from headwater.graphql.errors import code_of
from headwater.graphql.persisted_queries import Persisted
from headwater.graphql.run_feed import News
from headwater.graphql.schema import Schema
from headwater.graphql.transport.requests import BODY_BYTES_MAX, REQUEST_SECONDS_MAX, fault, read

PROTOCOL = "graphql-transport-ws"
CONNECTIONS_MAX = 200
CONNECTIONS_PER_KEY_MAX = 20
SUBSCRIPTIONS_PER_CONNECTION_MAX = 20
INIT_SECONDS_MAX = 10.0
RECHECK_SECONDS = 5.0
SEND_SECONDS_MAX = 10.0
CLOSE_SECONDS_MAX = 1.0
ID_CHARACTERS_MAX = 100

T = TypeVar("T")


class ClosingError(Exception):
    """The connection ends: with which code, and why. Without a code it has ended."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True)
class Room:
    """What all connections share. `context` makes the context of one subscription; `loop` is that of GraphQL."""

    schema: Schema
    news: News
    persisted: Persisted
    admit: Callable[[str], Principal]
    refused: Callable[[str, str, str], None]
    context: Callable[[Principal, Told], Context]
    loop: Callable[[], asyncio.AbstractEventLoop]


class Sockets:
    """The endpoint of all connections."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._open = 0
        self._by_key: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.receive()
        if self._open >= CONNECTIONS_MAX:
            await socket.close()
            return
        self._open += 1
        connection = _Connection(socket, self._room, self._by_key)
        try:
            await connection.run()
        finally:
            self._open -= 1


class _Connection:
    """One connection, from its handshake to its end."""

    def __init__(self, socket: WebSocket, room: Room, by_key: Counter[str]) -> None:
        self._socket = socket
        self._room = room
        self._by_key = by_key
        self._who: Principal = UNAUTHENTICATED
        self._authorization = ""
        self._known = asyncio.Event()
        self._sending = asyncio.Lock()
        self._subscriptions: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        offered = PROTOCOL in self._socket.scope["subprotocols"]
        await self._socket.accept(subprotocol=PROTOCOL if offered else None)
        ending = ClosingError(None) if offered else ClosingError(4406, f"this speaks {PROTOCOL}")
        try:
            if offered:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._watch())
                    group.create_task(self._listen(group))
        except* ClosingError as closing:
            ending = next(error for error in closing.exceptions if isinstance(error, ClosingError))
        finally:
            if self._known.is_set():
                self._by_key[self._who.name] -= 1
        if ending.code is not None:
            with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                async with asyncio.timeout(CLOSE_SECONDS_MAX):
                    await self._socket.close(ending.code, ending.reason[:100])

    async def _watch(self) -> None:
        """Ends a connection that does not say who it is, and one whose key is valid no longer."""
        try:
            async with asyncio.timeout(INIT_SECONDS_MAX):
                await self._known.wait()
        except TimeoutError:
            raise ClosingError(4408, "no connection_init came in time") from None
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            await self._admit()

    async def _listen(self, group: asyncio.TaskGroup) -> None:
        while True:
            message = await self._message()
            kind, id = message.get("type"), message.get("id")
            if kind == "connection_init":
                await self._begin(message.get("payload"))
            elif kind == "ping":
                await self._send({"type": "pong"})
            elif kind == "pong":
                pass
            elif not isinstance(id, str) or not 0 < len(id) <= ID_CHARACTERS_MAX:
                raise ClosingError(4400, "a message has no type that is known, or no id")
            elif kind == "complete":
                if id in self._subscriptions:
                    self._subscriptions[id].cancel()
            elif kind == "subscribe":
                await self._subscribe(group, id, message.get("payload"))
            else:
                raise ClosingError(4400, "a message has no type that is known")

    async def _message(self) -> dict[str, Any]:
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            raise ClosingError(None)
        text = message.get("text")
        if text is None:
            raise ClosingError(4400, "a message is not text")
        if len(text) > BODY_BYTES_MAX:
            raise ClosingError(1009, f"a message is over {BODY_BYTES_MAX} bytes")
        try:
            value = read(text)
        except ValueError:
            raise ClosingError(4400, "a message is not JSON") from None
        if not isinstance(value, dict):
            raise ClosingError(4400, "a message is not a JSON object")
        return value

    async def _begin(self, payload: Any) -> None:
        if self._known.is_set():
            raise ClosingError(4429, "a second connection_init")
        sent = payload.get("authorization") if isinstance(payload, dict) else None
        if payload is not None and (
            not isinstance(payload, dict) or not isinstance(sent, str | None)
        ):
            raise ClosingError(4400, "the payload of connection_init is not what it should be")
        self._authorization = sent or self._socket.headers.get("authorization", "")
        self._who = await self._admit()
        if self._by_key[self._who.name] >= CONNECTIONS_PER_KEY_MAX:
            raise ClosingError(4429, f"over {CONNECTIONS_PER_KEY_MAX} connections with one key")
        self._by_key[self._who.name] += 1
        self._known.set()
        await self._send({"type": "connection_ack"})

    async def _admit(self) -> Principal:
        """Whoever is at the other end, if it may ask at all."""
        who = self._who
        try:
            who = await anyio.to_thread.run_sync(self._room.admit, self._authorization)
            who.require(KeyScope.READ)
        except HeadwaterError as error:
            if error.status not in (401, 403):
                raise ClosingError(1013, "the key cannot be looked at now") from error
            await anyio.to_thread.run_sync(
                self._room.refused, who.name, "WebSocket /graphql", error.message
            )
            raise ClosingError(4000 + error.status, error.message) from error
        return who

    async def _subscribe(self, group: asyncio.TaskGroup, id: str, payload: Any) -> None:
        if not self._known.is_set():
            raise ClosingError(4401, "no connection_init came before")
        if id in self._subscriptions:
            raise ClosingError(4409, f"there is a subscription {id!r} already")
        wrong = fault(payload)
        if wrong:
            raise ClosingError(4400, wrong)
        if len(self._subscriptions) >= SUBSCRIPTIONS_PER_CONNECTION_MAX:
            await self._send(_error(id, "too many subscriptions on this connection", "BAD_REQUEST"))
            return
        task = group.create_task(self._serve(id, payload))
        self._subscriptions[id] = task
        task.add_done_callback(lambda _: self._forget(id, task))

    def _forget(self, id: str, task: asyncio.Task[None]) -> None:
        """Free the id of a subscription that is over, unless another has it by now."""
        if self._subscriptions.get(id) is task:
            del self._subscriptions[id]

    async def _serve(self, id: str, request: Mapping[str, Any]) -> None:
        """One subscription, until it is over or cancelled."""
        ours, theirs = asyncio.get_running_loop(), self._room.loop()

        async def send(text: str, *, last: bool) -> None:
            if last:
                # Whoever hears of the end may use the id again.
                self._subscriptions.pop(id, None)
            await self._send_text(text)

        async def deliver(message: dict[str, Any]) -> None:
            text = json.dumps(message, ensure_ascii=False)
            sending = send(text, last=message["type"] != "next")
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(sending, ours))

        streaming = _stream(self._room, self._who, id, request, deliver)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(streaming, theirs))

    async def _send(self, message: dict[str, Any]) -> None:
        await self._send_text(json.dumps(message, ensure_ascii=False))

    async def _send_text(self, text: str) -> None:
        """Send, one message at a time. A client that takes nothing is dropped, so that nothing gathers for it."""
        try:
            async with asyncio.timeout(SEND_SECONDS_MAX), self._sending:
                await self._socket.send_text(text)
        except TimeoutError:
            raise ClosingError(1013, "the client takes nothing") from None
        except (WebSocketDisconnect, RuntimeError, OSError):
            raise ClosingError(None) from None


async def _stream(
    room: Room,
    who: Principal,
    id: str,
    request: Mapping[str, Any],
    deliver: Callable[[dict[str, Any]], Coroutine[Any, Any, None]],
) -> None:
    """Deliver what a subscription yields. Working on one thing may take only so long, waiting for the next may not
    end."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(REQUEST_SECONDS_MAX) as limit:
            told = Told(
                room.news,
                lambda works: limit.reschedule(
                    loop.time() + REQUEST_SECONDS_MAX if works else None
                ),
            )
            query = room.persisted.query(request, keep=True)
            stream = await room.schema.stream(
                query,
                variable_values=request.get("variables"),
                operation_name=request.get("operationName"),
                context_value=room.context(who, told),
                allowed_operation_types=(OperationType.SUBSCRIPTION,),
            )
            async with aclosing(stream):
                async for result in stream:
                    assert isinstance(result, ExecutionResult)
                    limit.reschedule(None)
                    await deliver(_told(id, result))
                    if isinstance(result, PreExecutionError):
                        return
    except TimeoutError:
        await deliver(
            _error(
                id, f"what there is to tell took longer than {REQUEST_SECONDS_MAX:g} s", "TIMEOUT"
            )
        )
    except HeadwaterError as error:
        await deliver(_error(id, error.message, code_of(error)))
    else:
        await deliver({"id": id, "type": "complete"})


def _told(id: str, result: ExecutionResult) -> dict[str, Any]:
    errors = [error.formatted for error in result.errors or ()]
    if isinstance(result, PreExecutionError):
        return {"id": id, "type": "error", "payload": errors}
    return {
        "id": id,
        "type": "next",
        "payload": {"data": result.data, **({"errors": errors} if errors else {})},
    }


def _error(id: str, message: str, code: str) -> dict[str, Any]:
    said = GraphQLError(message, extensions={"code": code})
    return {"id": id, "type": "error", "payload": [said.formatted]}
