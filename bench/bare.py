"""An application that reads the body and answers 201: the floor of `bench.post`, which runs it."""

from __future__ import annotations

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.cli.serve import listening
from headwater.settings import Settings


async def _taken(request: Request) -> Response:
    await request.body()
    return Response(b'{"sequence":1}', 201, media_type="application/json")


def main() -> None:
    paths = ("/api/v1/lineage", "/api/v1/lineage/batch")
    app = Starlette(routes=[Route(path, _taken, methods=["POST"]) for path in paths])
    uvicorn.run(app, **listening(Settings(port=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
