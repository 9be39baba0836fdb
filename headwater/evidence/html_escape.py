"""Text from events in HTML: names and errors are whatever somebody sent."""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Control characters, and those that turn the direction of text or take no room: shown by their number instead.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def safe(value: Any) -> str:
    """Any value as text for an element or a quoted attribute."""
    if value is None:
        return ""
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )
    return html.escape(_UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text), quote=True)


def cut(text: str, characters: int) -> str:
    """The end of a name tells more than its beginning."""
    return text if len(text) <= characters else "…" + text[1 - characters :]
