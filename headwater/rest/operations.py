"""A route of the REST API: its path, its types of parameters, body and answer, and its handler.

The types are the only definition. Requests are read as them, answers are written from them, and
`/openapi.json` is generated from them, so the three always agree.

Paths are matched percent-encoded, as the client sent them, and decoded segment by segment. The
namespace `s3://lake` has slashes, at which a path that was decoded first would be split.
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

from headwater.access.bounded_threads import CODE_THREADS_MAX, BoundedThreads
from headwater.access.guard import principal_of
from headwater.access.principal import Principal
from headwater.errors import HeadwaterError, QueryError
from headwater.lineage.view import GraphView
from headwater.web import RETRY_AFTER_SECONDS, BodyError, json_response, read_body

T = TypeVar("T")
ViewOf = Callable[[Request], GraphView]
Submit = Callable[[Principal, list[dict[str, Any]]], Awaitable[None]]

BODY_BYTES_MAX = 256 * 1024
THREADS_MAX = 16
_threads = anyio.CapacityLimiter(THREADS_MAX)
_code_threads = BoundedThreads("questions about code", CODE_THREADS_MAX)
# A message of msgspec's ValidationError: the problem, and the path of the value.
_VALIDATION = re.compile(r"(?P<problem>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)


class ArgumentError(QueryError):
    """An error about a parameter or a part of a body; `field` names it."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class NoParams(msgspec.Struct):
    """The parameters of a route that has none."""


@dataclass(frozen=True)
class OperationRequest:
    """A request as its handler gets it: in a thread, with parameters and body read.

    `submit` returns once its events are safe on disk. `author` is the name of the caller's key.
    """

    view: GraphView
    params: Any
    body: Any
    submit: Callable[[list[dict[str, Any]]], None]
    author: str


@dataclass(frozen=True)
class Operation:
    """A route and its handler.

    `params` has a field for each segment of the path and each parameter of the query. `body` and
    `answer` are the types of the bodies. `errors` describes each error status. `malformed_status`
    overrides the API's status for a request that does not fit its types. `media_types` has a
    writer of the answer for each media type beside JSON. `reads_code`: the handler reads code that
    callers or producers sent.
    """

    method: str
    path: str
    summary: str
    handler: Callable[[OperationRequest], Any]
    answer: Any
    params: type[msgspec.Struct] = NoParams
    body: Any = None
    status: int = 200
    body_bytes_max: int = BODY_BYTES_MAX
    malformed_status: int = 0
    errors: Mapping[int, str] = field(default_factory=dict)
    media_types: Mapping[str, Callable[[Any], bytes]] = field(default_factory=dict)
    reads_code: bool = False


@dataclass(frozen=True)
class Api:
    """A group of operations with one form of errors.

    `render_error` makes the body of an error (of type `error_type`) from the error and its status.
    `malformed_status` answers a request that does not fit its types, unless its operation has its
    own.
    """

    name: str
    prefixes: tuple[str, ...]
    operations: tuple[Operation, ...]
    error_type: type[msgspec.Struct]
    render_error: Callable[[HeadwaterError, int], msgspec.Struct]
    malformed_status: int = 400

    def routes(self, view_of: ViewOf, submit: Submit) -> list[Route]:
        """Return the routes, once under each prefix."""
        routes: list[Route] = []
        for operation in self.operations:
            endpoint = _endpoint(self, operation, view_of, submit)
            for prefix in self.prefixes:
                path = prefix + operation.path
                routes.append(EncodedRoute(path, endpoint, methods=[operation.method]))
        return routes


class EncodedRoute(Route):
    """A route that matches the percent-encoded path, with or without a slash at its end."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        raw = scope.get("raw_path") or scope["path"].encode()
        path = raw.decode("latin-1").partition("?")[0]
        match, child_scope = super().matches(
            {**scope, "path": path.rstrip("/") or "/", "root_path": ""}
        )
        if match is not Match.NONE:
            child_scope["path_params"] = {
                name: unquote(str(value)) for name, value in child_scope["path_params"].items()
            }
        return match, child_scope


def _endpoint(
    api: Api, operation: Operation, view_of: ViewOf, submit: Submit
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return await _answer(operation, request, view_of, submit)
        except ClientDisconnect:
            return Response(status_code=400)
        except HeadwaterError as error:
            status = (
                (operation.malformed_status or api.malformed_status)
                if isinstance(error, ArgumentError | BodyError) and error.status == 400
                else error.status
            )
            headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if status == 503 else {}
            return json_response(api.render_error(error, status), status, headers)

    return endpoint


async def _answer(
    operation: Operation, request: Request, view_of: ViewOf, submit: Submit
) -> Response:
    params = read_params(operation.params, {**request.query_params, **request.path_params})
    body = None
    if operation.body is not None:
        body = read_json(await read_body(request, operation.body_bytes_max), operation.body)

    async def submit_as_principal(events: list[dict[str, Any]]) -> None:
        await submit(principal_of(request), events)

    def submit_from_thread(events: list[dict[str, Any]]) -> None:
        anyio.from_thread.run(submit_as_principal, events)

    author = principal_of(request).name
    handled = OperationRequest(view_of(request), params, body, submit_from_thread, author)
    accepted = {
        media_range.partition(";")[0].strip().lower()
        for media_range in request.headers.get("accept", "").split(",")
    }
    media_type = next((type for type in operation.media_types if type in accepted), "")

    def handle() -> Response:
        answer = operation.handler(handled)
        if media_type:
            content = operation.media_types[media_type](answer)
            return Response(content, operation.status, media_type=media_type)
        return json_response(answer, operation.status)

    if operation.reads_code:
        return await _code_threads.run(handle, caller=author)
    return await anyio.to_thread.run_sync(handle, limiter=_threads, abandon_on_cancel=True)


def read_params(type: type[T], texts: Mapping[str, str]) -> T:
    """Return the parameters of a request as their type. Raises ArgumentError."""
    try:
        return msgspec.convert(dict(texts), type=type, strict=False)
    except msgspec.ValidationError as error:
        raise _argument_error(error) from error


def read_json(body: bytes, type: Any) -> Any:
    """Return a JSON body as its type. Raises ArgumentError."""
    try:
        return msgspec.json.decode(body, type=type)
    except msgspec.ValidationError as error:
        raise _argument_error(error) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ArgumentError("the body is not JSON", field="body") from error


def _argument_error(error: msgspec.ValidationError) -> ArgumentError:
    message = str(error)
    match = _VALIDATION.fullmatch(message)
    problem, path = (match["problem"], match["path"]) if match else (message, None)
    missing = re.search(r"missing required field `([^`]+)`", problem)
    field = (path or "$").removeprefix("$").removeprefix(".")
    if missing:
        return ArgumentError(
            "the field is missing", field=f"{field}.{missing[1]}" if field else missing[1]
        )
    return ArgumentError(problem[:1].lower() + problem[1:], field=field or "body")
