"""A small real HTTP server with the REST paths of a registry."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Subjects = dict[str, list[dict[str, Any]]]


@contextmanager
def served(subjects: Subjects, *, authorization: str = "") -> Iterator[str]:
    """Serve subjects with their versions; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, answer = _answer(subjects, self.path)
            if authorization and self.headers.get("Authorization") != authorization:
                status, answer = 401, {"error_code": 401}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(subjects: Subjects, path: str) -> tuple[int, Any]:
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts == ["subjects"]:
        return 200, list(subjects)
    versions = subjects.get(parts[1]) if len(parts) > 2 else None
    if versions is None:
        return 404, {"error_code": 40401}
    if len(parts) == 3:
        return 200, list(range(1, len(versions) + 1))
    number = int(parts[3])
    return 200, {"subject": parts[1], "version": number, "id": number + 100, **versions[number - 1]}
