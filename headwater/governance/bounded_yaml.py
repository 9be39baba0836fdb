"""A loader of YAML with limits: a short text stands for no huge value, and reading it ends soon.

Each refusal is a `yaml.MarkedYAMLError` with the place. Aliases are refused, because nine of them
can stand for millions of values.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.composer import ComposerError

DEPTH_MAX = 50
VALUES_MAX = 100_000
_KEY_CHARACTERS_SHOWN = 80


class BoundedLoader(yaml.SafeLoader):
    """A safe loader without aliases, repeated keys, deep nesting and too many values."""

    def __init__(self, stream: str) -> None:
        """Create a loader of a text."""
        super().__init__(stream)
        self._depth = 0
        self._values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node, within the limits."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise _error("aliases are not supported; write the value again", mark)
        self._values += 1
        if self._values > VALUES_MAX:
            raise _error(f"has more than {VALUES_MAX} values; write several files", mark)
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise _error(f"is nested more than {DEPTH_MAX} levels deep", mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(node, yaml.MappingNode):
            _require_distinct(node)
        elif isinstance(node, yaml.ScalarNode):
            try:
                node.value = _paired(node.value)
            except UnicodeDecodeError:
                raise _error("has half of a surrogate pair, which is no text", mark) from None
        return node


def _require_distinct(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                shown = key.value[:_KEY_CHARACTERS_SHOWN]
                raise _error(f"the key {shown!r} stands twice", key.start_mark)
            seen.add(key.value)


def _paired(text: str) -> str:
    """Return a text with each pair of surrogates as one character, as JSON escapes them.

    Raises UnicodeDecodeError for half of a pair.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _error(problem: str, mark: yaml.Mark) -> ComposerError:
    return ComposerError(None, None, problem, mark)
