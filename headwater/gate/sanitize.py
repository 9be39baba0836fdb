"""Text from a repository and from events, made harmless for where it is shown.

ResolutionOptions of files, tables and columns are whatever somebody chose. None may end a line, so that none can be taken for a
command of the machine that runs the gate, nor hide what it is.
"""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
LINE_CHARACTERS_MAX = 1_000


def line(text: str) -> str:
    """A text on one line, with what cannot be seen shown by its number. `##[` begins a command of GitHub's anywhere in
    a line, `::` at its beginning."""
    seen = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    cut = seen if len(seen) <= LINE_CHARACTERS_MAX else f"{seen[:LINE_CHARACTERS_MAX]}…"
    return cut.replace("##[", "## [")
