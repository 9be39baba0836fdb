"""Text from a repository and from events, made harmless for a terminal or a log.

Anybody can choose the names of files, tables and columns. None of them can end a line, so that
none is taken for a command of the CI machine.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
LINE_CHARACTERS_MAX = 1_000


def one_line(text: str) -> str:
    """Return a text on one line, with escapes for invisible characters.

    GitHub reads a command after `##[` anywhere in a line, and after `::` at its start."""
    escaped = _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    if len(escaped) > LINE_CHARACTERS_MAX:
        escaped = f"{escaped[:LINE_CHARACTERS_MAX]}…"
    return escaped.replace("##[", "## [")
