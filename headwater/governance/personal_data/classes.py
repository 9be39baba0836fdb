"""The classes of personal data, and how tags and names of columns give them. Pure.

`classes.toml` lists them. A tag names a class by its key or by its value: `pii`, `pii=email`,
`classification=pii`. An unknown word under the key `pii` is a class of its own; under other keys it
is no personal data (`classification=confidential`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

GENERIC = "pii"
# Keys under which a word that no class has is a class of its own.
_OPEN_KEYS = frozenset({"pii", "personal_data", "personal", "phi"})
_AFFIRMATIVE = frozenset({"", "true", "yes", "1", "y"})
CLASS_CHARACTERS_MAX = 100
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class PersonalDataClass:
    """A class of personal data: its name, what it is, and the column names that suggest it."""

    name: str
    title: str
    names: re.Pattern[str]


@dataclass(frozen=True)
class _Vocabulary:
    classes: Mapping[str, PersonalDataClass]
    words: Mapping[str, str]
    keys: frozenset[str]
    negative: frozenset[str]


@cache
def _vocabulary() -> _Vocabulary:
    text = files("headwater.governance.personal_data").joinpath("classes.toml").read_text()
    content = tomllib.loads(text)
    classes = {row["name"]: _class(row) for row in content["class"]}
    words = dict.fromkeys(content["generic"], GENERIC)
    for row in content["class"]:
        for word in (_word(row["name"]), *row["synonyms"]):
            words[word] = row["name"]
    return _Vocabulary(
        MappingProxyType(classes),
        MappingProxyType(words),
        frozenset(content["keys"]),
        frozenset(content["negative"]),
    )


def _class(row: Mapping[str, Any]) -> PersonalDataClass:
    pattern = "|".join(f"(?:{name})" for name in row["names"])
    return PersonalDataClass(row["name"], row["title"], re.compile(pattern))


def classes() -> Mapping[str, PersonalDataClass]:
    """Return the documented classes by name."""
    return _vocabulary().classes


@lru_cache(maxsize=4_096)
def class_of_tag(tag: str) -> str | None:
    """Return the class that a tag (`key` or `key=value`) names; None if it names none."""
    vocabulary = _vocabulary()
    key, _, value = tag.partition("=")
    key, word = _word(key), _word(value)
    if word in vocabulary.negative:
        return None
    if word in _AFFIRMATIVE:
        is_generic = vocabulary.words.get(key) == GENERIC
        return GENERIC if is_generic else None
    if vocabulary.words.get(word) == GENERIC:
        return GENERIC
    if key not in vocabulary.keys:
        return None
    if key in _OPEN_KEYS:
        return vocabulary.words.get(word) or value.strip().lower()[:CLASS_CHARACTERS_MAX]
    return vocabulary.words.get(word)


def classes_of_tags(tags: Iterable[str]) -> set[str]:
    """Return the classes that tags name."""
    return {found for tag in tags if (found := class_of_tag(tag)) is not None}


@lru_cache(maxsize=65_536)
def class_of_name(column: str) -> str | None:
    """Return the class that the name of a column suggests; of a nested field, its last part."""
    name = _word(column.rpartition(".")[2])
    if len(name) > CLASS_CHARACTERS_MAX:
        return None
    return next((one.name for one in classes().values() if one.names.fullmatch(name)), None)


def canonical_class(text: str) -> str:
    """Return the name of a class for its name or one of its synonyms; any other word as it is."""
    return _vocabulary().words.get(_word(text)) or text.strip().lower()[:CLASS_CHARACTERS_MAX]


def covers(general: str, special: str) -> bool:
    """Return True if a class includes another: `pii` includes every class."""
    return general in (GENERIC, special)


def _word(text: str) -> str:
    """Return a word in snake case: `DateOfBirth` and `date-of-birth` are `date_of_birth`."""
    if len(text) > 500:
        return ""
    return _SEPARATORS.sub("_", _CAPITAL.sub("_", text.strip()).lower()).strip("_")
