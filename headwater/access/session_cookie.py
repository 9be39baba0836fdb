"""The cookie of a session: where it is read, and from whom it counts.

The cookie is HttpOnly, so no script reads it, and SameSite=Strict, so browsers send it with
requests of Headwater's own pages only. Strict costs nothing here: the files of the page need no
key, and what they show is asked by the page itself. Over HTTPS its name begins with `__Host-`, so
that no other host can set it.

A cookie is sent without the will of the user. So a session may only read, sign out and use GraphQL,
and a write needs headers that prove a page of this server, and JSON, which a form cannot send.
Every other request needs a key.
"""

from __future__ import annotations

import time

from starlette.requests import HTTPConnection
from starlette.responses import Response

from headwater.access.origin import is_from_own_page
from headwater.access.sessions import Session
from headwater.errors import ForbiddenError

NAME = "headwater_session"
SECURE_NAME = f"__Host-{NAME}"
PATH = "/session"
_WRITABLE = frozenset({PATH, "/graphql"})
_HINT = "Use the page itself, or send a key as `Authorization: Bearer hw_...`."


def token_of(connection: HTTPConnection) -> str:
    """Return the token in the cookie of a request; "" without one."""
    secure = connection.cookies.get(SECURE_NAME, "")
    if secure or connection.url.scheme in ("https", "wss"):
        return secure
    return connection.cookies.get(NAME, "")


def may_count(connection: HTTPConnection, path: str) -> bool:
    """Return True if the cookie of a request to a declared path counts.

    The cookie of a read that another site caused is ignored. Raises ForbiddenError for such a
    write, and for a write that a session may not send.
    """
    if connection.scope["type"] == "websocket":
        _require_own_page(connection)
        return True
    method = connection.scope["method"]
    if method in ("GET", "HEAD"):
        return is_from_own_page(connection, is_write=False)
    _require_own_page(connection)
    if path.rstrip("/") not in _WRITABLE:
        raise ForbiddenError(f"a session of the page may not send {method} {path}", hint=_HINT)
    require_json(connection)
    return True


def _require_own_page(connection: HTTPConnection) -> None:
    if not is_from_own_page(connection, is_write=True):
        raise ForbiddenError("pages of other sites may not use a session", hint=_HINT)


def require_json(connection: HTTPConnection) -> None:
    """Check that a body is sent as JSON, which a form of another site cannot do.

    Raises ForbiddenError.
    """
    content_type = connection.headers.get("content-type", "").partition(";")[0].strip().lower()
    if connection.scope["method"] != "DELETE" and content_type != "application/json":
        raise ForbiddenError(
            f"Content-Type is {content_type[:50]!r}; a session needs application/json", hint=_HINT
        )


def set_cookie(
    response: Response,
    connection: HTTPConnection,
    token: str,
    session: Session,
    *,
    is_secure: bool = False,
) -> None:
    """Add the cookie of a session to a response; it lasts as long as the session.

    `is_secure`: the page is known to be open over HTTPS, whatever the connection shows.
    """
    seconds = max(0, int(session.expires.timestamp() - time.time()))
    _set(response, token, seconds, is_secure=is_secure or _is_secure(connection))


def delete_cookie(response: Response, connection: HTTPConnection) -> None:
    """Remove the cookie from the browser."""
    _set(response, "", 0, is_secure=_is_secure(connection))


def _set(response: Response, token: str, seconds: int, *, is_secure: bool) -> None:
    response.set_cookie(
        SECURE_NAME if is_secure else NAME,
        token,
        max_age=seconds,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )


def _is_secure(connection: HTTPConnection) -> bool:
    """Return True over HTTPS, also behind a proxy that does not forward the scheme."""
    origin = connection.headers.get("origin", "")
    return connection.url.scheme in ("https", "wss") or origin.startswith("https://")
