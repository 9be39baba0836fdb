"""A program that reads requests with nearly no memory left, and prints the outcomes as JSON.

Each attempt is a child that fills its memory up to a limit and leaves some room. So small
allocations fail too: those of zlib, of protobuf, of RE2 and of a new thread.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import os
import re
import resource
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from headwater.access.principal import ANONYMOUS
from headwater.errors import HeadwaterError
from headwater.ingest.receive.accept import LARGE_BYTES, EventAcceptor
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.receive.spans.otlp import _from_protobuf
from headwater.schema.naming import load_naming
from headwater.web import _Gzip
from tests.faults.history import events_of, history

KIB = 2**10
ATTEMPT_SECONDS_MAX = 20
CHUNK_BYTES = 4 * KIB
BALLAST_BYTES = (2**20, 64 * KIB, 8 * KIB, KIB, 480, 224, 96, 32)
BALLAST_OBJECTS_MAX = 2**20
SPANS = 4_000
SECRETS = (
    "password=hunter2 postgres://etl:pw1234@db/x ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 "
    "a.b@example.org 4111 1111 1111 1111 +49 30 901820 DE89 3704 0044 0532 0130 00"
)
RIGHT, WRONG, NO_MEMORY = "right", "wrong", "MemoryError"
# RE2 and protobuf end the process if they cannot allocate some bytes; nothing is stored then.
KILLED = "killed"
HUNG = "hung"
_SIGNALS: dict[int, str] = {signal.SIGALRM: HUNG, signal.SIGABRT: KILLED, signal.SIGSEGV: KILLED}


class Case(NamedTuple):
    """A reader of a valid request, and the bytes of room that it gets."""

    read: Callable[[], object]
    rooms: Sequence[int]


def acceptor() -> EventAcceptor:
    redactor = Redactor(b"key", frozenset({"iban", "ssn", "phone"}))
    committer: Any = None  # nothing is appended
    return EventAcceptor(redactor, load_naming(), committer)


def event(text: str) -> bytes:
    content = json.loads(events_of(1)[0])
    names = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}
    content["job"]["facets"] = {"documentation": {**names, "description": text}}
    return json.dumps(content).encode()


def unpacked(packed: bytes) -> bytes:
    stream = _Gzip()
    pieces: list[bytes] = []
    for start in range(0, len(packed), CHUNK_BYTES):
        pieces += stream.unpack(packed[start : start + CHUNK_BYTES])
    return b"".join(pieces)


def spans() -> bytes:
    request = trace_service_pb2.ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number in range(SPANS):
        scope.spans.add(name=f"span {number}", trace_id=b"a" * 16, span_id=b"b" * 8)
    encoded: bytes = request.SerializeToString()
    return encoded


def cases() -> dict[str, Case]:
    packed, protobuf = gzip.compress(b"\n".join(history(200))), spans()
    secret, large = event(SECRETS), event("w " * 50_000)
    usual = acceptor()
    usual.accept(ANONYMOUS, event(f"{SECRETS} again"), 1)  # it compiles the patterns

    def accepted(body: bytes) -> bytes:
        return acceptor().accept(ANONYMOUS, body, 1)

    def in_thread() -> int:
        return asyncio.run(usual.run_in_thread(ANONYMOUS, LARGE_BYTES + 1, len, b"event"))

    return {
        "gzip": Case(
            lambda: unpacked(packed),
            [*range(16 * KIB, 128 * KIB, 4 * KIB), *range(128 * KIB, 1024 * KIB, 64 * KIB)],
        ),
        "protobuf": Case(
            lambda: len(list(_from_protobuf(protobuf))), [KIB << n for n in range(6, 14)]
        ),
        "event": Case(lambda: accepted(large), range(64 * KIB, 1024 * KIB, 64 * KIB)),
        "secrets": Case(lambda: accepted(secret), [KIB << n for n in range(15)]),
        "thread": Case(in_thread, [KIB << n for n in range(8, 16)]),
    }


def used_bytes() -> int:
    """Return the private writable memory of this process."""
    found = re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * KIB


def fill(ballast: list[bytes | None]) -> None:
    """Put objects into a list until they take all memory up to the limit."""
    index = count()
    for size in BALLAST_BYTES:
        with suppress(MemoryError):
            while True:
                ballast[next(index)] = bytes(size)


def outcome(case: Case, room: int) -> str:
    """Return the outcome of one read with some bytes of room, compared with one without a limit."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    result: object = None
    error: BaseException | None = None
    ballast: list[bytes | None] = [None] * BALLAST_OBJECTS_MAX
    gift = bytearray(room)
    resource.setrlimit(resource.RLIMIT_DATA, (used_bytes(), before[1]))
    fill(ballast)
    del gift
    try:
        result = case.read()
    except BaseException as raised:
        error = raised
    del ballast
    resource.setrlimit(resource.RLIMIT_DATA, before)
    if isinstance(error, HeadwaterError):
        return f"{error.status} {error.message}"
    expected = case.read()
    if error is not None:
        return type(error).__name__
    return RIGHT if result == expected else WRONG


def outcome_in_child(case: Case, room: int) -> str:
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(ATTEMPT_SECONDS_MAX)
        gc.disable()
        os.write(writer, outcome(case, room).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        found = stream.read()
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return found
    return _SIGNALS.get(-code, f"exit code {code}")


def main() -> None:
    """Print the number of each outcome by case."""
    found = {}
    for name, case in cases().items():
        found[name] = Counter(outcome_in_child(case, room) for room in case.rooms)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
