"""What every room that answers over HTTP does alike: it reads a body of bounded size, and says errors in one form."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from headwater.errors import EventError, HeadwaterError

RETRY_AFTER_SECONDS = 5
# A chunk of gzip may unpack to a thousand times its size; it does so in pieces.
_PIECE_BYTES = 2**20


class BodyError(HeadwaterError):
    """A body that cannot be read at all: too large (413), wrongly packed (400) or packed otherwise (415)."""

    def __init__(self, message: str, *, status: int, field: str = "body", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.field = field


def error_response(error: HeadwaterError) -> Response:
    """An error as its HTTP answer: `{"error": {"code", "message", "field"?, "hint"?}}`. What is wrong with no field
    in particular is wrong with the `body`."""
    said = {"code": type(error).__name__.removesuffix("Error"), "message": error.message}
    if isinstance(error, EventError):
        said["field"] = error.field or "body"
    elif isinstance(error, BodyError):
        said["field"] = error.field
    if error.hint:
        said["hint"] = error.hint
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if error.status == 503 else {}
    return json_response({"error": said}, error.status, headers)


def json_response(
    content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """An answer in JSON."""
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


async def read_body(request: Request, bytes_max: int) -> bytes:
    """The body, unpacked. Never more than `bytes_max` in memory, whatever it would unpack to.

    Raises BodyError, and starlette's ClientDisconnect when whoever sent it went away.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip", ""}:
        raise BodyError(
            f"content-encoding {encoding!r} is not taken",
            status=415,
            field="Content-Encoding",
            hint="Send plain JSON or gzip.",
        )
    packed = _Gzip() if "gzip" in encoding else None
    pieces: list[bytes] = []
    size = sent = 0
    async for chunk in request.stream():
        for piece in packed.unpack(chunk) if packed else (chunk,):
            pieces.append(piece)
            size += len(piece)
            if size > bytes_max:
                raise _too_large(bytes_max)
        sent += len(chunk)  # members of gzip may be empty, for ever
        if sent > bytes_max:
            raise _too_large(bytes_max)
    if packed and not packed.whole:
        raise BodyError("the gzip body is cut short", status=400)
    return b"".join(pieces)


def _too_large(bytes_max: int) -> BodyError:
    return BodyError(
        f"the body is larger than {bytes_max} bytes", status=413, hint="Send fewer or smaller."
    )


class _Gzip:
    """A gzip stream, unpacked piece by piece; it may have several members (RFC 1952), one after another."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    @property
    def whole(self) -> bool:
        return self._member.eof

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """What the chunk unpacks to, a piece at a time. Raises BodyError when it is no gzip."""
        try:
            while chunk:
                if self._member.eof:
                    self._member = zlib.decompressobj(wbits=31)
                yield self._member.decompress(chunk, _PIECE_BYTES)
                chunk = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise BodyError(
                f"the body is not gzip, though it says so: {error}", status=400
            ) from error
