"""Read the text files that settings name."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG

BYTES_MAX = 8 * 2**20


def read_settings_file(path: Path, *, bytes_max: int = BYTES_MAX) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark.

    Raises OSError, also for a device or a pipe, which may never end, and for a file of more than
    `bytes_max`; UnicodeDecodeError.
    """
    if not S_ISREG(path.stat().st_mode):
        raise OSError("it is no regular file")
    with path.open("rb") as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise OSError(f"it has more than {bytes_max:,} bytes")
    return data.decode("utf-8-sig")
