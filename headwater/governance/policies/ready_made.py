"""The ready-made rules of `rules.toml`: each expands to a condition."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from headwater.errors import QueryError
from headwater.governance.policies.models import Enforcement, PolicyError, Severity, glob_regex
from headwater.schema.durations import parse_duration

_ARGUMENT = re.compile(r"\$(\w+)")
_INT_MAX = 1_000_000_000


@dataclass(frozen=True)
class ReadyMadeRule:
    """A rule that is a condition with arguments, and what a policy of it has by default.

    arguments: the kind and the default of each, by name.
    """

    name: str
    title: str
    on: tuple[str, ...]
    severity: Severity
    enforce: Enforcement
    condition: str
    message: str
    arguments: Mapping[str, tuple[str, Any]]

    def expand(self, given: Mapping[str, Any]) -> str:
        """Return the condition with these arguments.

        Raises:
            PolicyError: An argument is unknown, or its value is of a wrong form.
        """
        for name in given:
            if name not in self.arguments:
                raise PolicyError(f"with.{name}: {self._unknown_argument(name)}")
        values = {
            name: _written(name, kind, given.get(name, default))
            for name, (kind, default) in self.arguments.items()
        }
        values["has_namespaces"] = json.dumps(bool(given.get("to")))
        return _ARGUMENT.sub(lambda match: values[match[1]], self.condition.strip())

    def _unknown_argument(self, name: str) -> str:
        if not self.arguments:
            return f"the rule {self.name} takes no arguments"
        return f"the rule {self.name} has no such argument{nearest(name, self.arguments)}"


def nearest(name: str, known: Mapping[str, Any]) -> str:
    """Return a hint with the known name that is most like a name, or with all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; write {close[0]}" if close else f"; write one of {', '.join(sorted(known))}"


def ready_made_rule(name: str) -> ReadyMadeRule:
    """Return the rule of a name. Raises PolicyError for an unknown one."""
    if name not in RULES:
        raise PolicyError(f"rule: {name[:80]!r} is no ready-made rule{nearest(name, RULES)}")
    return RULES[name]


def _written(name: str, kind: str, value: Any) -> str:
    """Return an argument as CEL."""
    try:
        return _WRITERS[kind](value)
    except (QueryError, TypeError, ValueError) as error:
        message = error.message if isinstance(error, QueryError) else str(error)
        raise PolicyError(f"with.{name}: {message}") from None


def _duration(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _INT_MAX:
        return str(value)
    return str(int(parse_duration(_text(value), name="The duration").total_seconds()))


def _int(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _INT_MAX:
        raise ValueError(f"must be a whole number from 0 to {_INT_MAX}")
    return str(value)


def _text_list(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [_text(item) for item in items]


def _texts(value: Any) -> str:
    return json.dumps(_text_list(value), ensure_ascii=False)


def _globs(value: Any) -> str:
    regex = "|".join(glob_regex(item) for item in _text_list(value))
    return json.dumps(f"^({regex})$", ensure_ascii=False)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a text")
    return value


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    "duration": _duration,
    "int": _int,
    "texts": _texts,
    "globs": _globs,
}


def _load() -> Mapping[str, ReadyMadeRule]:
    content = files("headwater.governance.policies").joinpath("rules.toml").read_text()
    found = [_rule(row) for row in tomllib.loads(content)["rule"]]
    return MappingProxyType({rule.name: rule for rule in found})


def _rule(row: Mapping[str, Any]) -> ReadyMadeRule:
    arguments = row.get("arguments", {})
    return ReadyMadeRule(
        name=row["name"],
        title=row["title"],
        on=tuple(row["on"]),
        severity=Severity(row["severity"]),
        enforce=Enforcement(row["enforce"]),
        condition=row["condition"],
        message=row["message"],
        arguments={name: (kind, value) for name, (kind, value) in arguments.items()},
    )


RULES = _load()
