"""Which namespaces somebody may see.

A pattern is the name of a namespace in which `*` stands for any characters, none included:
`s3://lake`, `team-a*`, `*`. Capitals count, as they do in names. Every question carries a `Sight`;
what lies outside it is shown as a stub in a walk and not at all in a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

ALL = "*"


@dataclass(frozen=True)
class Visibility:
    """The namespaces that match any of `patterns`; with `ALL` among them everything, even what has
    no namespace.
    """

    patterns: tuple[str, ...] = (ALL,)

    @property
    def is_unrestricted(self) -> bool:
        return ALL in self.patterns

    def includes(self, namespace: str | None) -> bool:
        return self.is_unrestricted or (
            namespace is not None and self._pattern.fullmatch(namespace) is not None
        )

    @property
    def regexes(self) -> list[str] | None:
        """For a query that lists nodes: regular expressions as Java reads them; None when nothing
        need be left out.
        """
        return None if self.is_unrestricted else [_regex(pattern) for pattern in self.patterns]

    def prune(self, value: Any) -> Any:
        """JSON without what names something out of sight: every object whose `namespace` may not be
        seen is gone from it, wherever it stands.
        """
        if self.is_unrestricted:
            return value
        if isinstance(value, Mapping):
            return {
                key: self.prune(item) for key, item in value.items() if not self._is_foreign(item)
            }
        if isinstance(value, list):
            return [self.prune(item) for item in value if not self._is_foreign(item)]
        return value

    def _is_foreign(self, value: Any) -> bool:
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
    r"""Alike in Python and in Java; `[\s\S]`, since a namespace may hold a line break. What a `*`
    and the text behind it took is not tried again further on (`(?>`): a pattern with many of them
    would take for ever to fail.
    """
    first, *parts = (re.escape(part) for part in pattern.split("*"))
    if not parts:
        return first
    return first + "".join(rf"(?>[\s\S]*?{part})" for part in parts[:-1]) + rf"[\s\S]*{parts[-1]}"


UNRESTRICTED = Visibility()
