"""The frames of one WebSocket do not hold up others, whatever a client sends."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from headwater.connections import READ_SECONDS_MAX, BoundedWebSocket
from headwater.websocket_protocol import FRAMES_AT_ONCE_MAX, PIECE_BYTES

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
SMALLEST_FRAME_BYTES = 6
CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10


class Transport(asyncio.Transport):
    """A transport that keeps what is written, and counts as closed once it is asked to close."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_reading_paused = self.is_closed = self.is_aborted = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True


class Socket(BoundedWebSocket):
    """The protocol of a WebSocket whose application answers each message with its size."""

    def __init__(self) -> None:
        config = uvicorn.Config(
            self._answer, interface="asgi3", log_config=None, ws_ping_interval=None
        )
        super().__init__(config, ServerState(), app_state={})
        # The frames of each piece of work, and how often others had their turn before it.
        self.turns: list[tuple[int, int]] = []
        self.turns_of_others = 0
        self.ended_with: dict[str, Any] = {}
        self._others: asyncio.Handle | None = None
        self.connection_made(Transport())

    @property
    def sent(self) -> Transport:
        assert isinstance(self.transport, Transport)
        return self.transport

    @property
    def worked_on(self) -> int:
        return sum(frames for frames, _ in self.turns)

    def handle_events(self) -> None:
        self.turns.append((len(self.conn.events), self.turns_of_others))
        super().handle_events()

    async def begin(self) -> None:
        self.data_received(HANDSHAKE)
        await turns(4)
        assert self.sent.written.startswith(b"HTTP/1.1 101")
        self.sent.written = b""
        self.turns.clear()
        self._give_others_a_turn()

    async def _answer(self, _: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": str(len(message["text"]))})
        self.ended_with = message

    def _give_others_a_turn(self) -> None:
        self.turns_of_others += 1
        if self.turns_of_others < 5_000:
            self._others = self.loop.call_soon(self._give_others_a_turn)


class NotedTurns(list[tuple[int, int]]):
    """Turns of one socket, which note the turns that the others of another socket have had."""

    def __init__(self, pieces: list[int], other: Socket) -> None:
        super().__init__()
        self._pieces = pieces
        self._other = other

    def append(self, turn: tuple[int, int]) -> None:
        self._pieces.append(self._other.turns_of_others)
        super().append(turn)


def frame(opcode: int, payload: bytes = b"", *, is_final: bool = True) -> bytes:
    is_small = len(payload) < 126
    size = bytes([0x80 | len(payload)]) if is_small else struct.pack(">BH", 0xFE, len(payload))
    return bytes([is_final << 7 | opcode]) + size + bytes(4) + payload


def frames_written(data: bytes) -> list[tuple[int, bytes]]:
    """Return opcode and payload of each small frame of a server."""
    found = []
    while data:
        size = data[1]
        found.append((data[0] & 15, data[2 : 2 + size]))
        data = data[2 + size :]
    return found


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def on_a_loop(test: Callable[[Socket], Coroutine[Any, Any, None]]) -> None:
    """Run a test with an accepted WebSocket."""

    async def run() -> None:
        socket = Socket()
        await socket.begin()
        await test(socket)

    asyncio.run(run())


EMPTY_FRAGMENT = frame(CONTINUATION, is_final=False)
KINDS = {
    "messages": (b"", frame(TEXT, b"{}")),
    "pings": (b"", frame(PING)),
    "pongs": (b"", frame(PONG)),
    "fragments": (frame(TEXT, is_final=False), EMPTY_FRAGMENT),
}
of_each_kind = pytest.mark.parametrize("kind", KINDS)


@of_each_kind
def test_others_have_their_turn_between_few_frames(kind: str) -> None:
    first, repeated = KINDS[kind]
    count = FRAMES_AT_ONCE_MAX - 2

    async def test(socket: Socket) -> None:
        socket.data_received(first + repeated * count)
        await turns(400)
        assert socket.worked_on == count + bool(first)
        assert max(frames for frames, _ in socket.turns) <= PIECE_BYTES / SMALLEST_FRAME_BYTES + 1
        before = [others for _, others in socket.turns]
        assert len(before) == len(set(before))
        assert not socket.sent.is_reading_paused

    on_a_loop(test)


def test_others_have_their_turn_between_the_frames_of_many_sockets() -> None:
    async def test(socket: Socket) -> None:
        pieces: list[int] = []
        sockets = [Socket() for _ in range(5)]
        for one in sockets:
            await one.begin()
            # They all note the turns of the same others.
            one.turns = NotedTurns(pieces, socket)
        for one in sockets:
            one.data_received(frame(PING) * 240)
        await turns(400)
        assert len(pieces) >= 5 * 240 * SMALLEST_FRAME_BYTES / PIECE_BYTES
        assert len(pieces) == len(set(pieces))

    on_a_loop(test)


@of_each_kind
def test_a_flood_of_frames_is_closed_with_a_reason(kind: str) -> None:
    first, repeated = KINDS[kind]

    async def test(socket: Socket) -> None:
        socket.data_received(first)
        for _ in range(10):
            socket.data_received(repeated * 5_000)
            await turns(400)
        assert socket.worked_on <= 2 * FRAMES_AT_ONCE_MAX
        assert socket.ended_with["code"] == 1008
        opcode, payload = frames_written(socket.sent.written)[-1]
        assert (opcode, struct.unpack(">H", payload[:2])) == (CLOSE, (1008,))
        assert payload[2:] == b"too many frames; send at most 25 a second"
        # The client has time to read the reason, and the server reads nothing more.
        assert not socket.sent.is_closed
        assert socket.sent.is_reading_paused

    on_a_loop(test)


def test_a_flood_behind_the_end_is_cut() -> None:
    async def test(socket: Socket) -> None:
        await socket.send({"type": "websocket.close", "code": 4400, "reason": ""})
        socket.data_received(frame(PING) * 2 * FRAMES_AT_ONCE_MAX)
        await turns(400)
        assert socket.sent.is_aborted

    on_a_loop(test)


def test_a_quiet_client_may_send_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)

    async def test(socket: Socket) -> None:
        nonlocal now
        for _ in range(20):
            socket.data_received(frame(TEXT, b"{}") * 50)
            await turns(100)
            now += 2.0
        answers = frames_written(socket.sent.written)
        assert answers == [(TEXT, b"2")] * 1_000

    on_a_loop(test)


def test_large_messages_arrive_whole() -> None:
    async def test(socket: Socket) -> None:
        half = frame(TEXT, b"x" * 60_000, is_final=False)
        socket.data_received(half + frame(CONTINUATION, b"y" * 5_000) + frame(PING, b"a"))
        assert socket.sent.is_reading_paused
        await turns(400)
        assert sorted(frames_written(socket.sent.written)) == [(TEXT, b"65000"), (PONG, b"a")]
        assert not socket.sent.is_reading_paused

    on_a_loop(test)


@pytest.mark.parametrize("pieces", [(b"\xff\xfe",), (b"\xc3", b"\xa9\xff"), (b"a", b"\xc3")])
def test_a_text_that_is_not_utf8_is_closed_without_a_stack_trace(
    pieces: tuple[bytes, ...], caplog: pytest.LogCaptureFixture
) -> None:
    async def test(socket: Socket) -> None:
        for number, piece in enumerate(pieces, start=1):
            opcode = TEXT if number == 1 else CONTINUATION
            socket.data_received(frame(opcode, piece, is_final=number == len(pieces)))
        await turns(20)
        ((opcode, payload),) = frames_written(socket.sent.written)
        assert (opcode, struct.unpack(">H", payload[:2])) == (CLOSE, (1007,))
        assert socket.ended_with["code"] == 1007
        assert socket.sent.is_closed

    on_a_loop(test)
    assert not caplog.records


def test_a_character_may_lie_in_two_fragments() -> None:
    async def test(socket: Socket) -> None:
        socket.data_received(frame(TEXT, b"\xc3", is_final=False) + frame(CONTINUATION, b"\xa9"))
        await turns(20)
        assert frames_written(socket.sent.written) == [(TEXT, b"1")]

    on_a_loop(test)


def test_frames_wait_for_a_client_that_does_not_read() -> None:
    async def test(socket: Socket) -> None:
        socket.pause_writing()
        socket.data_received(frame(PING, b"a") * 200)
        await turns(400)
        assert socket.worked_on == 0
        assert socket.sent.is_reading_paused
        since = socket.unread_since
        assert since is not None
        assert not socket.is_unread(since + READ_SECONDS_MAX - 1)
        assert socket.is_unread(since + READ_SECONDS_MAX + 1)
        socket.resume_writing()
        await turns(400)
        assert frames_written(socket.sent.written) == [(PONG, b"a")] * 200
        assert not socket.is_unread(since + READ_SECONDS_MAX + 1)

    on_a_loop(test)


def test_the_end_of_a_connection_ends_its_work() -> None:
    async def test(socket: Socket) -> None:
        socket.data_received(frame(TEXT, b"{}") * 200)
        socket.transport.close()
        socket.connection_lost(None)
        await turns(100)
        assert socket.worked_on == 0
        assert socket.ended_with["type"] == "websocket.disconnect"

    on_a_loop(test)
