"""The sign-on of an installation by its OpenID provider: tokens become principals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from headwater.access.oidc.provider import Provider
from headwater.access.oidc.roles import Roles, read_roles
from headwater.access.oidc.signed_tokens import TokenVerifier
from headwater.access.principal import Principal
from headwater.errors import UnauthorizedError
from headwater.settings import Settings

# Besides the claims that grants read, a session needs these.
_KEPT = frozenset({"iss", "sub", "name", "preferred_username", "email", "email_verified"})


class SignOn:
    """The provider, its tokens for one audience, and the roles that their claims give."""

    def __init__(
        self, provider: Provider, roles: Roles, *, audience: str, skew_seconds: int
    ) -> None:
        self.provider = provider
        self.roles = roles
        self.verifier = TokenVerifier(provider, skew_seconds=skew_seconds)
        self._audience = audience

    def claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a bearer token.

        Raises UnauthorizedError for an invalid token, and UnavailableError if its key is unknown
        while the provider does not answer.
        """
        return self.verifier.verify(token, self._audience)

    def principal(self, token: str) -> Principal:
        """Return the principal of a bearer token by the keys in memory; wait for nothing.

        Raises the errors of `claims`.
        """
        claims = self.verifier.verify(token, self._audience, may_read=False)
        return self.roles.principal_of(claims)

    def must_ask(self, token: str) -> bool:
        """Return True if the check of a token would ask the provider for its key now."""
        try:
            key_id = self.verifier.read_header(token).get("kid", "")
        except UnauthorizedError:
            return False
        return not self.provider.has_key(key_id) and self.provider.is_read_due()

    def kept_claims(self, claims: Mapping[str, Any]) -> dict[str, Any]:
        """Return the claims that a session needs, without all others."""
        names = {name.partition(".")[0] for name in self.roles.claims} | self.roles.claims | _KEPT
        return {name: claims[name] for name in sorted(names) if name in claims}


def is_token(text: str) -> bool:
    """Return True if a bearer token may be a JSON web token; no API key contains a dot."""
    return "." in text


def sign_on_of(settings: Settings) -> SignOn | None:
    """Return the sign-on that the settings name, or None. Raises SettingsError."""
    if not settings.oidc_issuer:
        return None
    return SignOn(
        Provider(settings.oidc_issuer),
        read_roles(settings.oidc_roles_path, settings.oidc_groups_claim),
        audience=settings.oidc_audience,
        skew_seconds=settings.oidc_skew_seconds,
    )


def provider_name(settings: Settings) -> str:
    """Return the name of the provider for people."""
    return settings.oidc_name or urlsplit(settings.oidc_issuer).hostname or settings.oidc_issuer
