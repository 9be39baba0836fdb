"""The authorization code flow of OpenID Connect with PKCE (RFC 7636), for people in a browser.

A signed cookie holds the state, the nonce, the verifier and the way back between the two requests
of one sign-in, for ten minutes. So nobody can end a sign-in that another browser began.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from authlib.integrations.httpx_client import OAuth2Client

from headwater.access.oidc.provider import USER_AGENT, sender
from headwater.access.oidc.sign_on import SignOn
from headwater.access.secret_file import load_secret
from headwater.addresses import shown
from headwater.errors import SettingsError, UnauthorizedError, UnavailableError

PATH = "/session/oidc"
CALLBACK = f"{PATH}/callback"
ATTEMPT_SECONDS_MAX = 600
_PURPOSE = b"headwater oidc 1\0"
_HINT = "Sign in again."
# A path of this page: not `//host`, nor `/\host`, which browsers take for it.
_BACK = re.compile(r"/(?![/\\])[^\\\s\x00-\x1f\x7f]{0,1000}")


class Attempt(msgspec.Struct, frozen=True):
    """A sign-in that began: what its answer must match, and where the browser goes after it."""

    state: str
    nonce: str
    verifier: str
    back: str
    expires: int


@dataclass(frozen=True)
class Client:
    """The client that the provider registered for the page; a public one has no secret."""

    id: str
    secret: str
    scopes: str
    redirect_uri: str


class CodeFlow:
    """The sign-in of people at the provider."""

    def __init__(self, sign_on: SignOn, client: Client, secret_path: Path) -> None:
        self.sign_on = sign_on
        self.client = client
        self._secret_path = secret_path

    def begin(self, back: str) -> tuple[str, str]:
        """Return the address of the provider to visit, and the cookie of this attempt.

        Raises UnavailableError if the provider does not answer.
        """
        address = self.sign_on.provider.address("authorization_endpoint")
        attempt = Attempt(
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(48),
            path_back(back),
            int(time.time()) + ATTEMPT_SECONDS_MAX,
        )
        with self._oauth() as oauth:
            url, _ = oauth.create_authorization_url(
                address,
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url), self._sealed(attempt)

    def end(self, cookie: str, parameters: Sequence[tuple[str, str]]) -> tuple[dict[str, Any], str]:
        """Return the verified claims of the person, and the way back.

        `parameters` are those with which the provider sent the browser back. Raises
        UnauthorizedError for an answer to no attempt of this browser or an invalid token, and
        UnavailableError if the provider does not answer.
        """
        attempt = self._opened(cookie)
        answer = dict(parameters)
        # RFC 6749, 3.1: otherwise two readers of one answer may take two values for it.
        if len(answer) != len(parameters):
            raise UnauthorizedError("the answer repeats a parameter", hint=_HINT)
        if not hmac.compare_digest(attempt.state.encode(), answer.get("state", "").encode()):
            raise UnauthorizedError("the sign-in began in another window", hint=_HINT)
        issuer = self.sign_on.provider.issuer
        # RFC 9207: the answer of another provider must not be taken for that of this one.
        if answer.get("iss", issuer) != issuer:
            raise UnauthorizedError("another provider answered the sign-in", hint=_HINT)
        if not answer.get("code"):
            raise UnauthorizedError("the provider refused the sign-in", hint=_HINT)
        claims = self.sign_on.verifier.verify(
            self._id_token(answer["code"], attempt.verifier), self.client.id
        )
        nonce = claims.get("nonce")
        if not isinstance(nonce, str) or not hmac.compare_digest(
            nonce.encode(), attempt.nonce.encode()
        ):
            raise UnauthorizedError("the token is that of another sign-in", hint=_HINT)
        if claims.get("azp", self.client.id) != self.client.id:
            raise UnauthorizedError("the token is that of another client", hint=_HINT)
        return claims, attempt.back

    def _id_token(self, code: str, verifier: str) -> str:
        """Exchange a code. Raises UnauthorizedError if the provider refuses it."""
        address = self.sign_on.provider.address("token_endpoint")
        try:
            response = sender().post(address, *self._token_request(code, verifier))
        except (UnavailableError, SettingsError) as error:
            raise UnavailableError(f"{shown(address)} does not answer: {error}") from error
        found = _parse_object(response.body)
        if "error" in found:
            raise UnauthorizedError("the provider refused the code of the sign-in", hint=_HINT)
        if not response.is_success:
            raise UnavailableError(f"{shown(address)} answers with {response.status}")
        token = found.get("id_token")
        if not isinstance(token, str):
            raise UnauthorizedError(
                "the provider sent no id_token", hint="HEADWATER_OIDC_SCOPES must include openid."
            )
        return token

    def _token_request(self, code: str, verifier: str) -> tuple[bytes, dict[str, str]]:
        """Return the body and the headers that exchange a code (RFC 6749, 4.1.3)."""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.client.redirect_uri,
            "code_verifier": verifier,
        }
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": USER_AGENT,
        }
        if self.client.secret:
            pair = f"{self.client.id}:{self.client.secret}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            fields["client_id"] = self.client.id
        return urlencode(fields).encode(), headers

    def _oauth(self) -> OAuth2Client:
        return OAuth2Client(
            self.client.id,
            self.client.secret or None,
            token_endpoint_auth_method="client_secret_basic" if self.client.secret else "none",
            scope=self.client.scopes,
            redirect_uri=self.client.redirect_uri,
            code_challenge_method="S256",
        )

    def _sealed(self, attempt: Attempt) -> str:
        content = base64.urlsafe_b64encode(msgspec.json.encode(attempt)).decode()
        return f"{content}.{self._signature(content)}"

    def _opened(self, cookie: str) -> Attempt:
        """Return the attempt of a cookie. Raises UnauthorizedError unless it is valid."""
        content, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(self._signature(content).encode(), signature.encode()):
            raise UnauthorizedError("no sign-in began in this browser", hint=_HINT)
        attempt = msgspec.json.decode(base64.urlsafe_b64decode(content), type=Attempt)
        if attempt.expires <= time.time():
            raise UnauthorizedError("the sign-in took longer than ten minutes", hint=_HINT)
        return attempt

    def _signature(self, content: str) -> str:
        return hmac.new(
            load_secret(self._secret_path), _PURPOSE + content.encode(), hashlib.sha256
        ).hexdigest()


def _parse_object(content: bytes) -> dict[str, Any]:
    """Return a JSON object, or an empty one for anything else."""
    try:
        found = msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def path_back(path: str) -> str:
    """Return a path of this page; "/" for one that leads elsewhere or to no view."""
    is_ours = _BACK.fullmatch(path) and not path.startswith(("/session", "/static"))
    return path if is_ours else "/"
