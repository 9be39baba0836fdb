"""What a route of REST is: its path, what it takes and what it answers as types, and the function that answers.

The types are all there is: a request is read as them, an answer is written from them, and the description in
`/openapi.json` is made from them, so that none of the three can say something else than the others.

Paths are matched as they were sent, still percent-encoded, and decoded part by part: the namespace `s3://lake` has
slashes in it, which a path that was decoded first would be cut at.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote

import anyio
import anyio.to_thread
import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from headwater.access.guard import principal_of
from headwater.access.principal import Principal
from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError, QueryError
from headwater.web import RETRY_AFTER_SECONDS, BodyError, json_response, read_body

T = TypeVar("T")
Reader = Callable[[Request], Database]
Submit = Callable[[Principal, list[dict[str, Any]]], Awaitable[None]]

BODY_BYTES_MAX = 256 * 1024
THREADS_MAX = 16
_threads = anyio.CapacityLimiter(THREADS_MAX)
# What msgspec says of a value that does not fit, and where.
_WHERE = re.compile(r"(?P<what>.*?)(?: - at `(?P<where>[^`]*)`)?", re.DOTALL)


class ArgumentError(QueryError):
    """A parameter or a part of a body that is not what it should be; `field` names it."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class NoArguments(msgspec.Struct):
    """A route that takes nothing."""


@dataclass(frozen=True)
class Asked:
    """One request as its handler sees it: in a thread, with everything read."""

    database: Database
    arguments: Any
    body: Any
    submit: Callable[[list[dict[str, Any]]], None]


@dataclass(frozen=True)
class Operation:
    """One route. `arguments` has a field for each part of the path and each parameter of the query; `body` and
    `answer` are what is sent and answered, `refusals` when it answers something else, `malformed` how it answers a
    request that does not fit its types, where that is not as in the rest of its API. `forms`: by media type, what
    writes the answer for who accepts another form of it than JSON."""

    method: str
    path: str
    summary: str
    handler: Callable[[Asked], Any]
    answer: Any
    arguments: type[msgspec.Struct] = NoArguments
    body: Any = None
    status: int = 200
    body_bytes_max: int = BODY_BYTES_MAX
    malformed: int = 0
    refusals: Mapping[int, str] = field(default_factory=dict)
    forms: Mapping[str, Callable[[Any], bytes]] = field(default_factory=dict)


@dataclass(frozen=True)
class Api:
    """Operations of one style: how errors are said (`refused`) and what they look like (`error`). `malformed` is what a
    request that does not fit its types is answered with, unless its operation says otherwise."""

    name: str
    prefixes: tuple[str, ...]
    operations: tuple[Operation, ...]
    error: type[msgspec.Struct]
    refused: Callable[[HeadwaterError, int], msgspec.Struct]
    malformed: int = 400

    def routes(self, reader: Reader, submit: Submit) -> list[Route]:
        """The routes, under every prefix."""
        return [
            EncodedRoute(
                prefix + operation.path,
                _endpoint(self, operation, reader, submit),
                methods=[operation.method],
                include_in_schema=True,
            )
            for operation in self.operations
            for prefix in self.prefixes
        ]


class EncodedRoute(Route):
    """A route whose path is matched before it is decoded, with or without a slash at its end."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        raw = scope.get("raw_path") or scope["path"].encode()
        path = raw.decode("latin-1").partition("?")[0]
        match, found = super().matches({**scope, "path": path.rstrip("/") or "/", "root_path": ""})
        if match is not Match.NONE:
            found["path_params"] = {
                name: unquote(str(value)) for name, value in found["path_params"].items()
            }
        return match, found


def _endpoint(
    api: Api, operation: Operation, reader: Reader, submit: Submit
) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            return await _answer(operation, request, reader, submit)
        except ClientDisconnect:
            return Response(status_code=400)
        except HeadwaterError as error:
            status = (
                (operation.malformed or api.malformed)
                if isinstance(error, ArgumentError | BodyError) and error.status == 400
                else error.status
            )
            headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if status == 503 else {}
            return json_response(api.refused(error, status), status, headers)

    return answered


async def _answer(
    operation: Operation, request: Request, reader: Reader, submit: Submit
) -> Response:
    arguments = read_arguments(operation.arguments, {**request.query_params, **request.path_params})
    body = None
    if operation.body is not None:
        body = read_json(await read_body(request, operation.body_bytes_max), operation.body)

    async def kept(events: list[dict[str, Any]]) -> None:
        await submit(principal_of(request), events)

    def submitted(events: list[dict[str, Any]]) -> None:
        anyio.from_thread.run(kept, events)

    asked = Asked(reader(request), arguments, body, submitted)
    accepted = {
        one.partition(";")[0].strip().lower()
        for one in request.headers.get("accept", "").split(",")
    }
    form = next((type for type in operation.forms if type in accepted), "")

    def answered() -> Response:
        answer = operation.handler(asked)
        if form:
            return Response(operation.forms[form](answer), operation.status, media_type=form)
        return json_response(answer, operation.status)

    return await anyio.to_thread.run_sync(answered, limiter=_threads, abandon_on_cancel=True)


def read_arguments(type: type[T], sent: Mapping[str, str]) -> T:
    """The parameters of a query as their type. Raises ArgumentError."""
    try:
        return msgspec.convert(dict(sent), type=type, strict=False)
    except msgspec.ValidationError as error:
        raise _argument_error(error) from error


def read_json(body: bytes, type: Any) -> Any:
    """A body as its type. Raises ArgumentError."""
    try:
        return msgspec.json.decode(body, type=type)
    except msgspec.ValidationError as error:
        raise _argument_error(error) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ArgumentError("the body is not JSON", field="body") from error


def _argument_error(error: msgspec.ValidationError) -> ArgumentError:
    said = _WHERE.fullmatch(str(error))
    what, where = (said["what"], said["where"]) if said else (str(error), None)
    missing = re.search(r"missing required field `([^`]+)`", what)
    field = (where or "$").removeprefix("$").removeprefix(".")
    if missing:
        return ArgumentError(
            "it is missing", field=f"{field}.{missing[1]}" if field else missing[1]
        )
    return ArgumentError(what[:1].lower() + what[1:], field=field or "body")
