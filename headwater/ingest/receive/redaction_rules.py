"""The rules of `redact.toml`, and the kind of a property's value, which follows from its name."""

from __future__ import annotations

import re
import tomllib
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from headwater.ingest.receive.long_texts import replaced

DATA: dict[str, Any] = tomllib.loads(
    files("headwater.ingest.receive").joinpath("redact.toml").read_text(encoding="utf-8")
)


class Rule(NamedTuple):
    """A pattern, tried on texts that contain all `needs`, and what replaces it."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    mask: str


def compiled(pattern: str, *, case: bool = False) -> re.Pattern[str]:
    """Return a pattern of `redact.toml` in which SECRET stands for the names of secrets."""
    flags = re.ASCII if case else re.ASCII | re.IGNORECASE
    return re.compile(pattern.replace("SECRET", DATA["secret"]), flags)


def _rules(kind: str, prefix: str = "") -> tuple[Rule, ...]:
    return tuple(
        Rule(
            tuple(rule["needs"]),
            compiled(rule.get(f"{prefix}pattern", rule["pattern"]), case=rule.get("case", False)),
            rule.get(f"{prefix}mask", rule["mask"]),
        )
        for rule in DATA[kind]
        if not (prefix and rule.get("texts_only"))
    )


IN_TEXT, IN_NAMES, LITERALS = _rules("secrets"), _rules("secrets", "place_"), _rules("literals")
PERSONAL = {rule["what"]: compiled(rule["pattern"]) for rule in DATA["personal"]}


class Kind(Enum):
    """The kind of a property's value, which follows from its name."""

    SECRET = "secret"
    NAME = "name"
    IDENTIFIER = "identifier"
    TRACE = "stack trace"
    TEXT = "text"


_SECRET_NAME = compiled(DATA["secret_properties"])
# The properties that name the secret in another property of the same object, and that property.
NAME_PROPERTIES = frozenset(name.encode() for name in DATA["name_properties"])
VALUE_PROPERTIES = frozenset(name.encode() for name in DATA["value_properties"])
# A string of an array that names the next one as a secret: ["--password", "..."].
ARGUMENT = re.compile(compiled(DATA["argument"]).pattern.encode(), re.IGNORECASE)
_IDENTIFIER = re.compile(DATA["identifiers"])


@lru_cache(maxsize=8_192)
def kind_of(name: bytes) -> Kind:
    """Return the kind of the value of a property."""
    text = name.decode("utf-8", "replace")
    if text in DATA["names"]:
        return Kind.NAME
    if _SECRET_NAME.search(text):
        return Kind.SECRET
    if text in DATA["stack_traces"]:
        return Kind.TRACE
    return Kind.IDENTIFIER if _IDENTIFIER.search(text) else Kind.TEXT


def apply_rules(text: str, rules: tuple[Rule, ...]) -> str:
    """Return a text with the matches of rules replaced."""
    small = text.lower()
    for rule in rules:
        for need in rule.needs:
            if need not in small:
                break
        else:
            text = replaced(rule.pattern, rule.mask, text)
    return text
