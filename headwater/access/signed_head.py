"""Signed heads of the access log: how many entries it has now, and the hash of the newest one.

A head is stored where the administrators of this machine cannot change it. A log that was cut or
computed again since then does not agree with it. The signature (Ed25519, RFC 8032) proves that the
head is of this installation; its private key is in `audit.key` beside the access log.
"""

from __future__ import annotations

import base64
import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from headwater.access.secret_file import create_private
from headwater.errors import QueryError, SettingsError

# The signed bytes begin with it, so that no other signature of the key counts as one of a head.
_PURPOSE = b"headwater audit head 1\n"


class SignedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A head. `key` identifies the public key; `signature` is base64."""

    entries: int
    hash: str
    time: datetime
    key: str
    signature: str = ""


def load_signing_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file; create the file if it is missing.

    Raises SettingsError if the file cannot be read or created, or holds no such key.
    """
    try:
        if not path.exists():
            create_private(path, _new_key())
        content = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"the signing key in {path} cannot be read: {error}") from error
    key: object = None
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        key = serialization.load_pem_private_key(content, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise SettingsError(
            f"{path} holds no private Ed25519 key",
            hint="Restore the file, or move it away to have a new key created.",
        )
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a file. Raises QueryError if it holds none."""
    content = path.read_bytes()
    key: object = None
    with suppress(ValueError, UnsupportedAlgorithm):
        key = serialization.load_pem_public_key(content)
    if not isinstance(key, Ed25519PublicKey):
        raise QueryError(
            f"{path} holds no public Ed25519 key",
            hint="`headwater audit public-key` prints it on the machine of the log.",
        )
    return key


def public_pem(key: Ed25519PublicKey) -> str:
    """Return a public key as text (PEM)."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form).decode()


def key_id(key: Ed25519PublicKey) -> str:
    """Return the first 16 hex digits of the SHA-256 of a public key."""
    raw = serialization.Encoding.Raw
    return hashlib.sha256(key.public_bytes(raw, serialization.PublicFormat.Raw)).hexdigest()[:16]


def sign_head(entries: int, hash: str, key: Ed25519PrivateKey) -> SignedHead:
    """Return the signed head of a log with so many entries."""
    head = SignedHead(entries, hash, datetime.now(UTC), key_id(key.public_key()))
    signature = base64.b64encode(key.sign(_signed_bytes(head))).decode()
    return msgspec.structs.replace(head, signature=signature)


def read_head(path: Path, key: Ed25519PublicKey) -> SignedHead:
    """Read a head from a file, and verify its signature. Raises QueryError if either fails."""
    try:
        head = msgspec.json.decode(path.read_bytes(), type=SignedHead)
        signature = base64.b64decode(head.signature, validate=True)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise QueryError(f"{path} holds no head of the access log: {error}") from error
    if head.key != key_id(key):
        raise QueryError(
            f"the head in {path} was signed by the key {head.key}, not by {key_id(key)}",
            hint="Give the public key of the installation with --public-key FILE.",
        )
    try:
        key.verify(signature, _signed_bytes(head))
    except InvalidSignature:
        raise QueryError(f"the signature of the head in {path} is wrong: it was changed") from None
    return head


def _signed_bytes(head: SignedHead) -> bytes:
    values = [head.entries, head.hash, head.time.astimezone(UTC).isoformat(), head.key]
    return _PURPOSE + json.dumps(values).encode()


def _new_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
