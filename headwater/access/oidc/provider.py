"""An OpenID provider: the addresses that it publishes, and its keys, held in memory.

Keys come from the address that the discovery document of the configured issuer names, and from
nowhere else. They are read again every five minutes, and when a token names an unknown key, at most
every ten seconds. While the provider is away the keys in memory count, for a day at most.
"""

from __future__ import annotations

import base64
import binascii
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from joserfc import jwk
from joserfc.errors import JoseError

from headwater.addresses import shown
from headwater.errors import SettingsError, UnauthorizedError, UnavailableError
from headwater.transport import HttpSender

DISCOVERY = "/.well-known/openid-configuration"
REFRESH_SECONDS = 300.0
# The time between two reads of the keys, whatever tokens name.
READ_SECONDS_MIN = 10.0
# Keys that were not confirmed for so long are not used.
KEYS_SECONDS_MAX = 86_400.0
KEYS_MAX = 100
# The time for the documents of one read together, or for one other answer; and the size of each.
ANSWER_SECONDS_MAX = 5.0
# The time to wait for the read of another thread, which ends before.
WAIT_SECONDS_MAX = ANSWER_SECONDS_MAX + 2.0
ANSWER_BYTES_MAX = 2**20
USER_AGENT = "headwater"
_RSA_BYTES_MIN = 256
# The signatures that count, and the type and the curve of their keys.
ALGORITHMS: Mapping[str, tuple[str, str | None]] = {
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}


@dataclass(frozen=True)
class Published:
    """The content of a provider's documents. `keys` are by their ids; "" for a key without one."""

    addresses: Mapping[str, str]
    keys: Mapping[str, Mapping[str, Any]]
    read_at: float


class Provider:
    """The provider of an issuer. Its methods may be called from several threads."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self._published: Published | None = None
        self._tried_at = -READ_SECONDS_MIN
        self._failure = ""
        self._lock = threading.Lock()

    def has_key(self, key_id: str) -> bool:
        """Return True if the key of an id is in memory."""
        published = self._published
        return published is not None and _find(published, key_id) is not None

    def is_read_due(self) -> bool:
        """Return True if the keys may be read now."""
        return time.monotonic() - self._tried_at >= READ_SECONDS_MIN

    def key(self, key_id: str, algorithm: str, *, may_read: bool = True) -> jwk.Key:
        """Return the key of an id for an algorithm.

        may_read: read the keys from the provider if this one is unknown, and wait for that.

        Raises:
            UnauthorizedError: The provider has no such key.
            UnavailableError: The provider does not answer, and the key is unknown.
        """
        if may_read and not self.has_key(key_id):
            self.refresh()
        published = self._published
        if published is None or time.monotonic() - published.read_at > KEYS_SECONDS_MAX:
            raise self._unavailable()
        found = _find(published, key_id)
        if found is None and self._failure:
            raise self._unavailable()
        if found is None or not _fits(found, algorithm):
            raise UnauthorizedError(f"the issuer {self.issuer} has no such key")
        try:
            return jwk.import_key(dict(found))
        except (JoseError, ValueError) as error:
            raise UnauthorizedError(f"a key of the issuer {self.issuer} is malformed") from error

    def address(self, name: str) -> str:
        """Return an address that the provider publishes, for example `token_endpoint`.

        Raises UnavailableError if the provider does not answer or does not publish it.
        """
        if self._published is None:
            self.refresh()
        if self._published is None:
            raise self._unavailable()
        found = self._published.addresses.get(name)
        if not found:
            raise UnavailableError(f"the issuer {self.issuer} publishes no {name}")
        return found

    def refresh(self) -> None:
        """Read the addresses and keys, unless that was done just now. A failure is kept.

        Raises UnavailableError if another thread reads them for too long.
        """
        if not self._lock.acquire(timeout=WAIT_SECONDS_MAX):
            raise UnavailableError(
                f"the keys of {self.issuer} are still being read", hint="Retry later."
            )
        try:
            if self.is_read_due():
                self._read()
        finally:
            self._lock.release()

    def _read(self) -> None:
        try:
            self._published = read_published(self.issuer)
            self._failure = ""
        except UnavailableError as error:
            self._failure = error.message
        self._tried_at = time.monotonic()

    def run(self, stop: threading.Event) -> None:
        """Keep the keys up to date until `stop` is set."""
        while not stop.is_set():
            with suppress(UnavailableError):
                self.refresh()
            stop.wait(READ_SECONDS_MIN if self._failure else REFRESH_SECONDS)

    def _unavailable(self) -> UnavailableError:
        message = self._failure or f"the keys of {self.issuer} were not read for a day"
        return UnavailableError(
            f"tokens cannot be checked now: {message}", hint="Retry later, or send an API key."
        )


def read_published(issuer: str) -> Published:
    """Read what a provider publishes. Raises UnavailableError if that cannot be used."""
    deadline = time.monotonic() + ANSWER_SECONDS_MAX
    discovery = issuer.rstrip("/") + DISCOVERY
    found = _read_json(discovery, deadline)
    if found.get("issuer") != issuer:
        raise UnavailableError(
            f"{discovery} is that of another issuer",
            hint=f"HEADWATER_OIDC_ISSUER must be exactly as there: {found.get('issuer')!r:.200}.",
        )
    addresses = {
        name: value
        for name, value in found.items()
        if isinstance(value, str) and _is_safe(value, issuer)
    }
    if "jwks_uri" not in addresses:
        raise UnavailableError(f"{discovery} names no address of keys (jwks_uri) with https")
    listed = _read_json(addresses["jwks_uri"], deadline).get("keys")
    if not isinstance(listed, list):
        raise UnavailableError(f"{shown(addresses['jwks_uri'])} holds no set of keys")
    usable = [key for key in listed[:KEYS_MAX] if isinstance(key, dict) and is_usable(key)]
    keys = {str(key.get("kid", "")): key for key in usable}
    if not keys:
        algorithms = ", ".join(ALGORITHMS)
        raise UnavailableError(
            f"{shown(addresses['jwks_uri'])} holds no key that signs by one of {algorithms}"
        )
    return Published(addresses, keys, time.monotonic())


def is_usable(key: Mapping[str, Any]) -> bool:
    """Return True for a public key of a signature that counts; RSA from 2,048 bits."""
    if key.get("use", "sig") != "sig" or not isinstance(key.get("kid", ""), str):
        return False
    if key.get("kty") == "RSA" and _bytes_of(key.get("n")) < _RSA_BYTES_MIN:
        return False
    return any(_fits(key, algorithm) for algorithm in ALGORITHMS)


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    """Return True if a key is of the type of an algorithm and meant for it."""
    type, curve = ALGORITHMS[algorithm]
    if key.get("kty") != type or (curve is not None and key.get("crv") != curve):
        return False
    return key.get("alg") in (None, algorithm)


def _find(published: Published, key_id: str) -> Mapping[str, Any] | None:
    """Return a key by its id. A token without an id means the only key."""
    if not key_id and len(published.keys) == 1:
        return next(iter(published.keys.values()))
    return published.keys.get(key_id) if key_id else None


def _bytes_of(value: object) -> int:
    """Return the length of a number in base64url, without leading zeros."""
    if not isinstance(value, str):
        return 0
    try:
        return len(base64.urlsafe_b64decode(value + "==").lstrip(b"\0"))
    except (binascii.Error, ValueError):
        return 0


def _is_safe(address: str, issuer: str) -> bool:
    """Return True for https, and for http if the issuer itself is on loopback without https."""
    return address.startswith("https://") or (
        address.startswith("http://") and issuer.startswith("http://")
    )


def sender() -> HttpSender:
    """Return the sender of requests to a provider: one attempt each, with a time and a size."""
    return HttpSender(
        timeout_seconds=ANSWER_SECONDS_MAX, retry_statuses=(), body_bytes_max=ANSWER_BYTES_MAX
    )


def _read_json(address: str, deadline: float) -> dict[str, Any]:
    """Read an object from an address, without redirects, until an instant of `time.monotonic()`.

    Raises UnavailableError.
    """
    headers = {"Accept": "application/json", "User-Agent": USER_AGENT}
    try:
        response = sender().send("GET", address, None, headers, deadline=deadline)
    except (UnavailableError, SettingsError) as error:
        raise UnavailableError(
            f"{shown(address)} does not answer: {error}",
            hint="Check HEADWATER_OIDC_ISSUER and the network.",
        ) from error
    if response.status != 200:
        raise UnavailableError(f"{shown(address)} answers with {response.status}")
    try:
        found = msgspec.json.decode(response.body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnavailableError(f"{shown(address)} holds no JSON") from error
    if not isinstance(found, dict):
        raise UnavailableError(f"{shown(address)} holds no JSON object")
    return found
