"""uvicorn's protocol for a WebSocket, with bounds on its frames.

uvicorn's own works on all frames of a packet at once, and a packet holds ten thousands of them.
Other connections would wait meanwhile.

- The frames are worked on in pieces of 512 bytes. Others get their turn between two pieces, of
  whichever clients they are. The server reads nothing more from a client before it has worked on
  all that came.
- A client may send 250 frames at once, and 25 a second. Data, control frames and fragments count
  alike. Beyond that, the connection is closed with 1008.
- The server works on no frames of a client that does not read its answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from uvicorn._types import ASGIReceiveEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from headwater.access.limits import Bucket

PIECE_BYTES = 512
FRAMES_PER_SECOND_MAX = 25.0
FRAMES_AT_ONCE_MAX = 250
# The time for a client to read the reason before its connection ends.
_REASON_SECONDS = 1.0


class _Turns:
    """The pieces of all WebSockets of a loop, which work on one piece each time it goes around."""

    def __init__(self) -> None:
        self._pieces: deque[Callable[[], object]] = deque()

    def add(self, work_on_piece: Callable[[], object]) -> None:
        """Work on a piece behind those that wait already."""
        self._pieces.append(work_on_piece)
        if len(self._pieces) == 1:
            asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> None:
        try:
            self._pieces[0]()
        finally:
            self._pieces.popleft()
            if self._pieces:
                asyncio.get_running_loop().call_soon(self._work)


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol for one WebSocket, with the bounds of this module."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Bytes behind the handshake that wait for their turn.
        self._received = bytearray()
        self._waits = False
        if self.loop not in _turns:
            _turns[self.loop] = _Turns()
        self._frames = Bucket(FRAMES_PER_SECOND_MAX, time.monotonic)

    def data_received(self, data: bytes) -> None:
        # The first data are the whole handshake.
        if not self.handshake_initiated:
            super().data_received(data)
        elif not self.conn.eof_sent:  # nothing behind the end is read
            self._received += data
            self._schedule_turn()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._schedule_turn()

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        self._schedule_turn()
        return message

    def handle_events(self) -> None:
        # The bucket holds the frames of one second; its debt is paid at the same rate.
        debt = self._frames.take(len(self.conn.events)) * FRAMES_PER_SECOND_MAX
        if debt > FRAMES_AT_ONCE_MAX - FRAMES_PER_SECOND_MAX:
            self._end_flood()
        else:
            super().handle_events()

    def send_receive_event_to_app(self) -> None:
        # uvicorn logs a stack trace for a text that is not UTF-8.
        is_text = self.curr_msg_data_type == "text" and not self.close_sent
        if is_text and not _is_utf8(b"".join(self.frames)):
            self.conn.fail(CloseCode.INVALID_DATA, "a text is not UTF-8")
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    def _schedule_turn(self) -> None:
        """Work on the next piece behind others, unless the application or the client must read."""
        if not self._received or self.transport.is_closing():
            return
        self.transport.pause_reading()
        if not self._waits and not self.read_paused and self.writable.is_set():
            self._waits = True
            _turns[self.loop].add(self._work_on_piece)

    def _work_on_piece(self) -> None:
        self._waits = False
        if self.transport.is_closing():
            return
        piece = bytes(self._received[:PIECE_BYTES])
        del self._received[:PIECE_BYTES]
        super().data_received(piece)
        if self._received:
            self._schedule_turn()
        elif not (self.read_paused or self.conn.eof_sent or self.transport.is_closing()):
            self.transport.resume_reading()

    def _end_flood(self) -> None:
        """Close the connection with a reason, and read nothing more of it."""
        self.conn.events_received()
        self._received.clear()
        if self.conn.state is not State.OPEN:
            self.transport.abort()
            return
        code = CloseCode.POLICY_VIOLATION
        reason = f"too many frames; send at most {FRAMES_PER_SECOND_MAX:g} a second"
        self.conn.fail(code, reason)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent, self.read_paused = True, False
        self.transport.pause_reading()
        self.close_timer = self.loop.call_later(_REASON_SECONDS, self.transport.close)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
