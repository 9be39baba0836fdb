"""Names of persons in free text, by rules instead of a language model.

Capitalised words in a row are a name if one of these holds:

- A title precedes them: `Frau Dr. Petra Lang`, `Mr Okafor`. After a title, one word is enough.
- The first one is a frequent first name, and another follows: `Ana Silva`, `John F. Kennedy`. So is
  `Silva, Ana`.
- A word such as `customer` or `name:` precedes two of them, and none is a common noun.

`person_names.toml` lists them. Names in lower case, single names, and names in scripts without
capitals (Arabic, Chinese) are not found.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

NAME = "name"
# Two words with a capital side by side. Escaped letters of JSON count as letters, and as capitals.
MAY_BE = re.compile(
    rb"[A-Z\\\xc3-\xd0](?:[\w'\\-]|[\x80-\xff]){0,40}[ ,.:=]{1,3}"
    rb"(?:[a-z]{1,3} ){0,2}[A-Z\\\xc3-\xd0]"
    rb"|(?:name|customer|client|patient|contact|employee|by)[ :=]{1,3}[A-Z\\\xc3-\xd0]"
)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_PARTICLES = frozenset(
    ["al", "bin", "da", "de", "del", "den", "der", "di", "dos", "la", "le", "van", "von"]
)
# A word beside one of these is part of an identifier, a path or an address.
_GLUE_BEFORE = frozenset("/\\_@.-$#0123456789<")
_GLUE_AFTER = frozenset("/\\_@$(0123456789:")
_FIRST_PARTS_MAX = 4
_LETTERS_MAX = 40


class _Rules(NamedTuple):
    titles: frozenset[str]
    cues: re.Pattern[str]
    words: frozenset[str]
    first_names: frozenset[str]


class _Token(NamedTuple):
    text: str
    start: int
    end: int


@cache
def _rules() -> _Rules:
    text = files("headwater.ingest.receive").joinpath("person_names.toml").read_text("utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    cues = "|".join(map(re.escape, sorted(content["cues"], key=len, reverse=True)))
    return _Rules(
        frozenset(content["titles"]),
        re.compile(rf"(?<![\w.-])(?:{cues})(?: ?[:=] ?| )[\"']?\Z", re.IGNORECASE),
        frozenset(content["words"]),
        frozenset(content["first_names"].split()) - frozenset(content["ambiguous"]),
    )


def without_names(text: str, replace: Callable[[str, str], str]) -> str:
    """Return a text with the names of persons replaced."""
    parts: list[str] = []
    done = 0
    for start, end in _names(text):
        name = " ".join(text[start:end].replace(".", "").split())
        parts += (text[done:start], replace(NAME, name.casefold()))
        done = end
    return "".join((*parts, text[done:]))


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of names, in order."""
    rules = _rules()
    tokens = [_Token(one[0], one.start(), one.end()) for one in _TOKEN.finditer(text)]
    index = 0
    while index < len(tokens):
        begin, after = _name_at(text, tokens, index, rules)
        if after > index:
            yield tokens[begin].start, tokens[after - 1].end
        index = max(after, index + 1)


def _name_at(text: str, tokens: list[_Token], index: int, rules: _Rules) -> tuple[int, int]:
    """Return the first token of a name that begins here, and the token after it.

    Titles before the name are not part of it. Without a name, both are the given index.
    """
    begin = index
    while begin < len(tokens) and tokens[begin].text in rules.titles and _gap(text, tokens, begin):
        begin += 1
    if begin > index:
        after = _end(text, tokens, begin, rules)
        return (begin, after) if after > begin else (index, index)
    one = tokens[index]
    if not _may_begin(text, one, rules):
        return index, index
    after = _end(text, tokens, index, rules)
    if one.text in rules.first_names or one.text.title() in rules.first_names:
        return (index, after) if after > index + 1 else (index, index)
    if _is_reversed(text, tokens, index, rules):
        return index, index + 2
    before = text[max(one.start - _LETTERS_MAX, 0) : one.start]
    has_cue = after > index + 1 and rules.cues.search(before) is not None
    return (index, after) if has_cue else (index, index)


def _is_reversed(text: str, tokens: list[_Token], index: int, rules: _Rules) -> bool:
    """Return True for `Silva, Ana`."""
    if index + 1 == len(tokens) or not _is_part(text, tokens[index], rules):
        return False
    one, other = tokens[index : index + 2]
    return text[one.end : other.start] == ", " and other.text in rules.first_names


def _end(text: str, tokens: list[_Token], index: int, rules: _Rules) -> int:
    """Return the token after the parts of a name, which may have initials and particles."""
    after = at = index
    while at < len(tokens) and at - index < _FIRST_PARTS_MAX:
        one = tokens[at]
        is_small = one.text in _PARTICLES and at > index
        if not is_small and not _is_initial(text, one):
            if not _is_part(text, one, rules):
                break
            after = at + 1
        if not _gap(text, tokens, at):
            break
        at += 1
    return after


def _gap(text: str, tokens: list[_Token], index: int) -> bool:
    """Return True if only a space is between a token and the next one; `. ` after few letters."""
    if index + 1 == len(tokens):
        return False
    one, between = tokens[index], text[tokens[index].end : tokens[index + 1].start]
    is_short = len(one.text) == 1 or one.text in _rules().titles
    return between == " " or (between == ". " and is_short)


def _is_initial(text: str, one: _Token) -> bool:
    return len(one.text) == 1 and one.text.isupper() and text[one.end : one.end + 1] in (".", " ")


def _may_begin(text: str, one: _Token, rules: _Rules) -> bool:
    is_glued = one.start > 0 and text[one.start - 1] in _GLUE_BEFORE
    return not is_glued and _is_part(text, one, rules)


def _is_part(text: str, one: _Token, rules: _Rules) -> bool:
    """Return True for a capitalised word that is no common noun and no part of an identifier."""
    word = one.text
    if (
        not 2 <= len(word) <= _LETTERS_MAX
        or not word[0].isupper()
        or text[one.end : one.end + 1] in _GLUE_AFTER
    ):
        return False
    is_path = text[one.end : one.end + 1] == "." and text[one.end + 1 : one.end + 2].isalnum()
    if is_path or word in rules.words or word.title() in rules.words:
        return False
    return not word.isupper() or word.title() in rules.first_names or len(word) > 3
