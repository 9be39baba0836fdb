"""Verify JSON web tokens (RFC 7519) of an OpenID provider.

A token is refused unless the issuer's own key signed it by one of four algorithms, and it names the
issuer, the audience, the subject, its end and its beginning. A token that brings its own key
(`jku`, `x5u`, `x5c`, `jwk`) or demands an extension (`crit`) is refused before any signature is
checked. No reason for a refusal quotes the token.
"""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Mapping
from typing import Any

from joserfc import jws
from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError, MissingClaimError
from joserfc.jwt import JWTClaimsRegistry

from headwater.access.oidc.provider import ALGORITHMS, Provider
from headwater.errors import UnauthorizedError

# RFC 9864 renames EdDSA to Ed25519; providers write the old name. Its curve is checked.
warnings.filterwarnings("ignore", message="EdDSA is deprecated")
TOKEN_CHARACTERS_MAX = 16_384
KEY_ID_CHARACTERS_MAX = 256
SUBJECT_CHARACTERS_MAX = 255
_FORM = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
# RFC 7515, 4.1: parameters that bring keys or demand extensions, and those of encryption.
_REFUSED = frozenset({"jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk"})
_TYPES = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_ESSENTIAL: Any = {"essential": True}


class TokenVerifier:
    """The verifier of the tokens of a provider. `skew_seconds`: how far its clock may be off."""

    def __init__(self, provider: Provider, *, skew_seconds: int) -> None:
        self._provider = provider
        self._skew_seconds = skew_seconds

    def verify(self, token: str, audience: str, *, may_read: bool = True) -> dict[str, Any]:
        """Return the claims of a token for an audience.

        may_read: read the keys from the provider if that of the token is unknown.

        Raises:
            UnauthorizedError: The token is not valid.
            UnavailableError: The provider does not answer, and the key is unknown.
        """
        header = self.read_header(token)
        algorithm = header["alg"]
        key = self._provider.key(header.get("kid", ""), algorithm, may_read=may_read)
        try:
            content = jws.deserialize_compact(token, key, algorithms=[algorithm])
        except (JoseError, ValueError, TypeError) as error:
            raise self._refusal("its signature is wrong") from error
        claims = self._parse(content.payload, "claims")
        self._check(claims, audience)
        return claims

    def read_header(self, token: str) -> dict[str, Any]:
        """Return the header of a token, which nothing has verified yet.

        Raises UnauthorizedError for a token that no key could make valid.
        """
        if len(token) > TOKEN_CHARACTERS_MAX:
            raise self._refusal(f"it has more than {TOKEN_CHARACTERS_MAX:,} characters")
        match = _FORM.fullmatch(token)
        if match is None:
            raise self._refusal("it is no signed token of three parts")
        encoded = match.group(1)
        header = self._parse(_decode(encoded), "header")
        refused = sorted(_REFUSED & header.keys())
        if refused:
            raise self._refusal(f"its header has {', '.join(refused)}")
        if not isinstance(header.get("alg"), str) or header["alg"] not in ALGORITHMS:
            raise self._refusal(f"it is not signed by one of {', '.join(ALGORITHMS)}")
        type = header.get("typ", "JWT")
        if not isinstance(type, str) or type.lower() not in _TYPES:
            raise self._refusal("its type is neither JWT nor at+jwt")
        key_id = header.get("kid", "")
        if not isinstance(key_id, str) or len(key_id) > KEY_ID_CHARACTERS_MAX:
            raise self._refusal("the id of its key is malformed")
        return header

    def _check(self, claims: Mapping[str, Any], audience: str) -> None:
        """Check the claims of a signed token. Raises UnauthorizedError."""
        registry = JWTClaimsRegistry(
            leeway=self._skew_seconds,
            iss={"essential": True, "value": self._provider.issuer},
            aud={"essential": True, "value": audience},
            exp=_ESSENTIAL,
            sub=_ESSENTIAL,
        )
        try:
            registry.validate(dict(claims))
        except MissingClaimError as error:
            raise self._refusal("it lacks one of iss, aud, exp and sub") from error
        except ExpiredTokenError as error:
            raise self._refusal("it has expired") from error
        except InvalidClaimError as error:
            raise self._refusal(_REASONS.get(error.claim, "a claim is malformed")) from error
        if "iat" not in claims and "nbf" not in claims:
            raise self._refusal("it lacks both iat and nbf")
        subject = claims["sub"]
        if len(subject) > SUBJECT_CHARACTERS_MAX or not subject.isprintable():
            raise self._refusal(_REASONS["sub"])

    def _parse(self, content: bytes, name: str) -> dict[str, Any]:
        """Parse a JSON object, each of its members once. Raises UnauthorizedError."""
        try:
            found = json.loads(content, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise self._refusal(f"its {name} are no JSON object with unique members") from error
        if not isinstance(found, dict):
            raise self._refusal(f"its {name} are no JSON object")
        return found

    def _refusal(self, reason: str) -> UnauthorizedError:
        return UnauthorizedError(
            f"the token is not valid: {reason}",
            hint=f"Get a new token from {self._provider.issuer}.",
        )


_REASONS = {
    "iss": "another issuer made it",
    "aud": "it is for another audience",
    "sub": "its subject must have 1 to 255 printable characters",
    "exp": "its end (exp) is malformed",
    "nbf": "it is not yet valid",
    "iat": "it was issued in the future",
}


def _decode(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member stands twice")
    return found
