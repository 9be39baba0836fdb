"""Search long texts in windows.

Python's `re` keeps the interpreter for a whole search, so no other thread runs meanwhile: a rule of
`redact.toml` needs half a second for a megabyte. Between windows other requests get their turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# A match begins in its window, and may end this many characters behind it. A longer match is found
# too, unless its pattern needs a character that lies further away.
WINDOW = 64 * 1024
OVERLAP = 16 * 1024


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, as `pattern.finditer(text)` does."""
    if len(text) <= WINDOW:
        yield from pattern.finditer(text)
        return
    position = 0
    while position < len(text):
        end = position + WINDOW
        while position < end and (found := _search(pattern, text, position, end)):
            yield found
            position = max(found.end(), found.start() + 1)
        position = max(position, end)


def _search(pattern: re.Pattern[str], text: str, position: int, end: int) -> re.Match[str] | None:
    """Return the first match that begins between two positions."""
    found = pattern.search(text, position, end + OVERLAP)
    if found is not None and found.end() == end + OVERLAP:
        found = pattern.search(text, found.start())
    return found if found is not None and found.start() < end else None


def replaced(pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str], text: str) -> str:
    """Return a text with the matches of a pattern replaced, as `pattern.sub(by, text)` does."""
    if len(text) <= WINDOW:
        return pattern.sub(by, text)
    parts: list[str] = []
    done = 0
    for found in matches(pattern, text):
        parts += (
            text[done : found.start()],
            found.expand(by) if isinstance(by, str) else by(found),
        )
        done = found.end()
    return "".join((*parts, text[done:]))
