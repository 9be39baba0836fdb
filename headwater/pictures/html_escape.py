"""Escaping for HTML: names and error texts come from events and are not trusted."""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Control characters, and characters that change the text direction or have no width: replaced by
# their code point.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def escape(value: Any) -> str:
    """Escape any value for an element or a quoted attribute."""
    if value is None:
        return ""
    text = value
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    visible = _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return html.escape(visible, quote=True)


def shorten(text: str, characters_max: int) -> str:
    """Shorten a name at its beginning, because its end is more specific."""
    return text if len(text) <= characters_max else "…" + text[1 - characters_max :]
