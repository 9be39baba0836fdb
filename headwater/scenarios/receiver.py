"""A server on loopback that hands the JSON body of each POST to a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from headwater.local.ports import HOST


@contextmanager
def receiving(take: Callable[[Any], object], *, status: int) -> Iterator[str]:
    """Answer each POST with a status until the end of the block; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Write no log."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.1], daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
