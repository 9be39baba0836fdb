"""The namespaces that a principal may see.

A pattern is the name of a namespace in which `*` matches any characters, or none: `s3://lake`,
`team-a*`, `*`. Patterns are case-sensitive, as names are. Every query carries a `Visibility`. A
traversal shows a hidden node as a stub; a list omits it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import msgspec

ALL = "*"
# The namespaces of unrestricted keys, as `Event.sender` has those of others.
ANY_KEY = '["*"]'


@dataclass(frozen=True)
class Visibility:
    """The namespaces that match one of `patterns`.

    With `ALL` among them it includes every node, also nodes without a namespace.
    """

    patterns: tuple[str, ...] = (ALL,)

    @property
    def is_unrestricted(self) -> bool:
        """Return True if no node is hidden."""
        return ALL in self.patterns

    def includes(self, namespace: str | None) -> bool:
        """Return True if nodes of a namespace, or nodes without one (None), are visible."""
        return self.is_unrestricted or (
            namespace is not None and self._pattern.fullmatch(namespace) is not None
        )

    def includes_all(self, namespaces: Collection[str | None]) -> bool:
        """Return True if a node that several namespaces decide about is visible: in each of them.

        A node without any is visible only if no node is hidden.
        """
        return self.is_unrestricted or (len(namespaces) > 0 and all(map(self.includes, namespaces)))

    @property
    def regexes(self) -> list[str] | None:
        """Return the patterns as regular expressions for Java; None if no node is hidden."""
        return None if self.is_unrestricted else [_regex(pattern) for pattern in self.patterns]

    def prune(self, value: Any) -> Any:
        """Return JSON without the objects, at any depth, whose `namespace` is hidden."""
        if self.is_unrestricted:
            return value
        if isinstance(value, Mapping):
            return {
                key: self.prune(item) for key, item in value.items() if not self._is_hidden(item)
            }
        if isinstance(value, list):
            return [self.prune(item) for item in value if not self._is_hidden(item)]
        return value

    def _is_hidden(self, value: Any) -> bool:
        return (
            isinstance(value, Mapping)
            and isinstance(value.get("namespace"), str)
            and not self.includes(value["namespace"])
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(
            "|".join(f"(?:{_regex(pattern)})" for pattern in self.patterns) or r"(?!)"
        )


def _regex(pattern: str) -> str:
    r"""Return a regular expression that Python and Java read alike.

    `[\s\S]` also matches a line break, which a namespace may contain. The atomic group `(?>`
    prevents backtracking: a pattern with many `*` would otherwise take exponential time to fail.
    """
    first, *parts = (re.escape(part) for part in pattern.split("*"))
    if not parts:
        return first
    return first + "".join(rf"(?>[\s\S]*?{part})" for part in parts[:-1]) + rf"[\s\S]*{parts[-1]}"


UNRESTRICTED = Visibility()


@lru_cache(maxsize=1_000)
def namespaces_of(sender: str) -> Visibility:
    """Return the namespaces that the key of a sender covers, from a JSON list of their patterns."""
    return Visibility(tuple(msgspec.json.decode(sender, type=list[str])))
