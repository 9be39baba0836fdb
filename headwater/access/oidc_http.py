"""The routes by which people sign in to the page at an OpenID provider.

GET /session/oidc?back=PATH   begin: go to the provider
GET /session/oidc/callback    end: start a session, set its cookie, and go to PATH

A sign-in that fails leads to /sign-in?failed=REASON: `away`, `role` or `refused`. The access log
has the details. Without a configured client both are 404.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from headwater.access.bounded_threads import BoundedThreads
from headwater.access.guard import Guard
from headwater.access.oidc.code_flow import ATTEMPT_SECONDS_MAX, CALLBACK, PATH, Client, CodeFlow
from headwater.access.principal import UNAUTHENTICATED
from headwater.access.session_cookie import set_cookie
from headwater.access.sessions import Session
from headwater.errors import HeadwaterError, NotFoundError, UnavailableError
from headwater.settings import Settings

_COOKIE = "headwater_oidc"
# Browsers take a cookie of this name from this host alone, for all of its paths, over HTTPS.
_SECURE_COOKIE = f"__Host-{_COOKIE}"
_SIGN_INS_MAX = 8
# The reasons that the page shows, by the status of the error.
_REASONS = {403: "role", 503: "away"}
_NO_STORE = {"cache-control": "no-store", "referrer-policy": "no-referrer"}


def code_flow_of(guard: Guard, settings: Settings) -> CodeFlow | None:
    """Return the sign-in of people that the settings name, or None. Raises SettingsError."""
    if guard.sign_on is None or not settings.oidc_client_id:
        return None
    client = Client(
        settings.oidc_client_id,
        settings.oidc_client_secret(),
        settings.oidc_scopes,
        settings.public_url.rstrip("/") + CALLBACK,
    )
    return CodeFlow(guard.sign_on, client, settings.session_key_path)


def oidc_routes(guard: Guard, flow: CodeFlow | None) -> list[Route]:
    """Return the routes of signing in at the provider."""
    threads = BoundedThreads("sign-ins", _SIGN_INS_MAX)
    is_secure = flow is not None and flow.client.redirect_uri.startswith("https://")
    cookie_name, cookie_path = (_SECURE_COOKIE, "/") if is_secure else (_COOKIE, PATH)

    async def begin(request: Request) -> Response:
        if flow is None:
            raise NotFoundError("no OpenID provider is configured")
        back = request.query_params.get("back", "/")
        try:
            url, cookie = await threads.run(flow.begin, back)
        except HeadwaterError as error:
            return _failed(error)
        response = RedirectResponse(url, 303, _NO_STORE)
        _set_attempt(response, cookie, ATTEMPT_SECONDS_MAX)
        return response

    async def end(request: Request) -> Response:
        if flow is None:
            raise NotFoundError("no OpenID provider is configured")
        try:
            response = await threads.run(_end, flow, request)
        except UnavailableError as error:
            response = _failed(error)
        _set_attempt(response, "", 0)
        return response

    def _end(flow: CodeFlow, request: Request) -> Response:
        name = UNAUTHENTICATED.name
        try:
            cookie = request.cookies.get(cookie_name, "")
            claims, back = flow.end(cookie, request.query_params.multi_items())
            name = f"{claims['iss']}#{claims['sub']}"
            token, session = guard.sessions.start_signed_on(claims)
        except HeadwaterError as error:
            _record_refusal(guard, request, name, error)
            return _failed(error)
        _record_session(guard, session)
        response = RedirectResponse(back, 303, _NO_STORE)
        set_cookie(response, request, token, session, is_secure=is_secure)
        return response

    def _set_attempt(response: Response, cookie: str, seconds: int) -> None:
        # Lax: the provider's page leads back here, and a stricter cookie would not come along.
        response.set_cookie(
            cookie_name,
            cookie,
            max_age=seconds,
            path=cookie_path,
            secure=is_secure,
            httponly=True,
            samesite="lax",
        )

    return [
        Route(PATH, begin, methods=["GET"]),
        Route(CALLBACK, end, methods=["GET"]),
    ]


def _failed(error: HeadwaterError) -> Response:
    reason = _REASONS.get(error.status, "refused")
    return RedirectResponse(f"/sign-in?failed={reason}", 303, _NO_STORE)


def _record_session(guard: Guard, session: Session) -> None:
    issuer, _, subject = session.principal.name.partition("#")
    guard.log.append(
        session.principal.name, f"GET {CALLBACK}", "done", issuer=issuer, subject=subject
    )


def _record_refusal(guard: Guard, request: Request, name: str, error: HeadwaterError) -> None:
    client = request.client.host if request.client else ""
    guard.log.record_refusal(
        name, f"GET {CALLBACK}", why=error.message, client=client, status=error.status
    )
