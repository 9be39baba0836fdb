"""A loader of YAML with limits: a short text stands for no huge value, and reading it ends soon.

Each refusal is a `yaml.MarkedYAMLError` with the place. Nine aliases, or nine merged mappings, can
stand for millions of values. So Headwater's own files have no aliases. In the files of other
programs an alias counts as all values that it stands for.
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

    # Whether aliases and repeated keys are refused, and all values are counted.
    is_strict = True

    def __init__(self, stream: str) -> None:
        """Create a loader of a text."""
        super().__init__(stream)
        self._depth = 0
        self._values = 0
        self._alias_values = 0
        # The number of values that each anchor stands for.
        self._values_of_anchors: dict[str, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node, within the limits."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        mark = event.start_mark
        if self.check_event(yaml.AliasEvent):
            self._count_alias(event.anchor, mark)
            return super().compose_node(parent, index)
        before = self._values
        self._values += 1
        if self.is_strict and self._values > VALUES_MAX:
            raise _error(f"has more than {VALUES_MAX} values; write several files", mark)
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise _error(f"is nested more than {DEPTH_MAX} levels deep", mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor is not None:
            self._values_of_anchors[event.anchor] = self._values - before
        if isinstance(node, yaml.MappingNode):
            if self.is_strict:
                _require_distinct(node)
        elif isinstance(node, yaml.ScalarNode):
            try:
                node.value = _paired(node.value)
            except UnicodeDecodeError:
                raise _error("has half of a surrogate pair, which is no text", mark) from None
        return node

    def _count_alias(self, anchor: str, mark: yaml.Mark) -> None:
        """Count the values that an alias stands for. Raise ComposerError behind the limit."""
        if self.is_strict:
            raise _error("aliases are not supported; write the value again", mark)
        if anchor in self.anchors and anchor not in self._values_of_anchors:
            raise _error(f"the alias {anchor!r} is within its own value", mark)
        count = self._values_of_anchors.get(anchor, 0)
        self._values += count
        self._alias_values += count
        if self._alias_values > VALUES_MAX:
            raise _error(f"its aliases stand for more than {VALUES_MAX} values", mark)


class BoundedAliasLoader(BoundedLoader):
    """A safe loader of the files of other programs: with aliases and repeated keys.

    The values of a file are not limited, but those that its aliases stand for.
    """

    is_strict = False


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
