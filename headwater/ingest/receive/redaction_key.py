"""The key under which redaction hashes what is personal: made once, beside the spool, for its owner's eyes only.

With another key the same address becomes another hash, so it is kept for as long as the spool is.
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
    """The key kept in this file, which is made, readable by its owner only, if it is not there yet.

    Raises SettingsError when it cannot be read or made, or holds no key.
    """
    try:
        if not path.exists():
            _make_key(path)
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the key of redaction cannot be read: {error}") from error
    if len(key) < REDACTION_KEY_CHARACTERS_MIN:
        raise SettingsError(
            f"{path} holds no key of redaction", hint="Put it back, or remove it to have one made."
        )
    return key.encode()


def _make_key(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        # Two that start at once: the first one's key stays.
        with suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink()
