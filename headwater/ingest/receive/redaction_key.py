"""The key of redaction, with which personal data is hashed. Created once, beside the spool.

Another key gives another hash of the same address, so the key must live as long as the spool.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from headwater.errors import SettingsError
from headwater.settings import REDACTION_KEY_CHARACTERS_MIN

_KEY_BYTES = 32


def load_key(path: Path) -> bytes:
    """Return the key in a file; create the file, readable by its owner only, if it is missing.

    Raises SettingsError if the file cannot be read or created, or holds no key.
    """
    try:
        if not path.exists():
            _create_key(path)
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the redaction key {path} cannot be read: {error}") from error
    if len(key) < REDACTION_KEY_CHARACTERS_MIN:
        raise SettingsError(
            f"{path} holds no redaction key of at least {REDACTION_KEY_CHARACTERS_MIN} characters",
            hint="Restore the file, or remove it to have a new key created.",
        )
    return key.encode()


def _create_key(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        # If two processes start at once, the key of the first stays.
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
