"""Errors about a statement that was explained, in terms of the text that the caller wrote.

The caller's text follows the word EXPLAIN, which stands on a line of its own.
"""

from __future__ import annotations

import re

# The place of an error, at the end of a line of the message.
_POSITION = re.compile(r"\(line (\d+), column (\d+) \(offset: (\d+)\)\)(?=\.?$)", re.MULTILINE)
# Neo4j lists this word among those that may begin a statement.
_EXPECTED_EXPLAIN = re.compile(r"'?EXPLAIN'?, |, '?EXPLAIN'?(?= or )")


def in_caller_text(message: str) -> str:
    """Return a message about an explained statement with places in the caller's own text."""

    def moved(match: re.Match[str]) -> str:
        line, column, offset = map(int, match.groups())
        return f"(line {line - 1}, column {column} (offset: {offset - len('EXPLAIN ')}))"

    return _EXPECTED_EXPLAIN.sub("", _POSITION.sub(moved, message))
