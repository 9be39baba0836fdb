"""A secret of the server in a file of its own: random, created once, readable by its owner only."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from headwater.errors import SettingsError

_BYTES = 32
CHARACTERS_MIN = 16


def load_secret(path: Path) -> bytes:
    """Return the secret in a file; create the file if it is missing.

    Raises SettingsError if the file cannot be read or created, or holds no secret.
    """
    try:
        if not path.exists():
            create_private(path, _new_secret())
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the secret in {path} cannot be read: {error}") from error
    if len(secret) < CHARACTERS_MIN:
        raise SettingsError(
            f"{path} holds no secret of at least {CHARACTERS_MIN} characters",
            hint="Restore the file, or remove it to have a new secret created.",
        )
    return secret.encode()


def replace_secret(path: Path) -> None:
    """Put a new secret into a file. Raises SettingsError if the file cannot be written."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.replace(_written(path, _new_secret()), path)
    except OSError as error:
        raise SettingsError(f"the secret in {path} cannot be replaced: {error}") from error


def create_private(path: Path, content: bytes) -> None:
    """Create a file that only its owner can read, unless it exists. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = _written(path, content)
    try:
        # If two processes start at once, the secret of the first stays.
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()


def _new_secret() -> bytes:
    return f"{secrets.token_hex(_BYTES)}\n".encode()


def _written(path: Path, content: bytes) -> Path:
    """Write a temporary file beside `path`; return its path."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return temporary
