"""uvicorn's protocol for a connection, with two rules of RFC 9110 that it does not follow.

- Only WebSocket is an upgrade here. A request that offers another protocol, as Java's HttpClient
  offers `h2c`, is read as if it did not (section 7.8). The parser ends such a request behind its
  headers, so its body would be lost. A handshake that comes before the answer to an earlier
  request is such a request too: that answer would stand within the WebSocket.
- A header field behind a body is no header (section 6.5.1): a proxy may have checked the headers
  alone.
"""

from __future__ import annotations

import sys
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol for one connection, with the rules of this module."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_behind_headers = False
        # True for a request that the parser ends because it offers another protocol.
        self._is_cut_off = False
        self._received = b""
        # Such a request without its offer, and what was received behind its headers.
        self._to_repeat = b""

    def data_received(self, data: bytes) -> None:
        self._received = data
        super().data_received(data)
        while self._to_repeat:
            self._received, self._to_repeat = self._to_repeat, b""
            self.parser = httptools.HttpRequestParser(self)
            # As uvicorn sets it: bytes behind the last request do not spoil its answer.
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            super().data_received(self._received)
        self._received = b""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_behind_headers = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_behind_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_behind_headers = True
        is_tunnel = self.parser.get_method() == b"CONNECT"
        self._is_cut_off = self.parser.should_upgrade() and not (
            is_tunnel or self._should_upgrade()
        )
        if not self._is_cut_off:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        if not self._is_cut_off:
            super().on_message_complete()

    def _should_upgrade(self) -> bool:
        is_answered = self.cycle is None or self.cycle.response_complete
        return is_answered and super()._should_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Let a request be read again without its offer; uvicorn would warn and leave it."""
        error = sys.exception()
        if self._is_cut_off and isinstance(error, httptools.HttpParserUpgrade):
            self._to_repeat = self._head_without_offer() + self._received[error.args[0] :]

    def _head_without_offer(self) -> bytes:
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        fields = [
            b"%s: %s\r\n" % (name, value) for name, value in self.headers if name != b"upgrade"
        ]
        return b"%s %s HTTP/%s\r\n%s\r\n" % (method, self.url, version, b"".join(fields))
