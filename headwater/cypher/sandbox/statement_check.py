"""Cypher of somebody else, read word by word: what EXPLAIN does not show of it.

A plan leaves out what stands inside the loop of an expression: `[x IN [1] | COLLECT { LOAD CSV ... }]` is a projection
to it. And Neo4j heeds the limits on time and memory between rows, not within one expression: a text that is doubled
forty times takes the whole server down, a loop within a loop over long lists outlasts any timeout. So the words
themselves are judged as well: nothing is called that is not known, no loop stands in another, and no value can grow by
more than a bounded factor. What is refused here has another way of being said; what it is, the refusal tells.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from headwater.errors import QueryError

TEXT_CHARACTERS_MAX = 20_000
TOKENS_MAX = 3_000
# How deep brackets may be nested, and how often a word may follow itself (NOT NOT NOT ...).
DEPTH_MAX = 50
# By how much any value may be longer than what it was made of.
GROWTH_MAX = 1_000
LITERAL_RANGE_MAX = 10_000
PATTERN_CHARACTERS_MAX = 200
PATTERN_REPEATS_MAX = 4
REPLACEMENT_CHARACTERS_MAX = 20
_SPLIT_GROWTH = 50
_NORMALIZE_GROWTH = 18

_TOKEN = re.compile(
    r"""(?P<gap>\s+|//[^\r\n]*|/\*.*?\*/)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<name>`(?:[^`]|``)*`)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\d\w*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029](?<!\r)|\r(?!\n)")
_REPEAT = re.compile(r"(?<!\\)[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+?{]|\\+[1-9k]")
_OPEN, _CLOSE = "([{", ")]}"
_QUANTIFIERS = frozenset({"any", "all", "none", "single"})
_BOUNDARIES = frozenset({"with", "return", "unwind"})
# Functions in a namespace that are Neo4j's own and harmless; all others could be of any plugin.
_NAMESPACES = frozenset(
    {"date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector"}
)


class Token(NamedTuple):
    kind: str
    text: str

    @property
    def word(self) -> str:
        """In small letters, as Cypher reads words; empty for what is none."""
        return self.text.lower() if self.kind == "word" else ""


class Statement:
    """The words of one statement. Raises QueryError when they cannot be read for certain."""

    def __init__(self, text: str, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.tokens = _read(text)
        self._closed_by = _brackets(self.tokens)
        self._in_literal = self._literals()

    def _literals(self) -> list[bool]:
        """For each token, whether it stands in a list or a map that is written out."""
        inside = [False] * len(self.tokens)
        for opened, closed in sorted(self._closed_by.items()):
            before, first = (
                self.tokens[opened - 1] if opened else Token("", ""),
                self._text(opened + 1),
            )
            if self._text(opened) == "[":
                literal = before.text != "-" and not (
                    before.kind in {"name", "string"} or before.text in ")]"
                )
            else:
                literal = self._text(opened) == "{" and (
                    self._text(opened + 2) == ":" or first == "`"
                )
            inside[opened:closed] = [literal] * (closed - opened)
        return inside

    def judge(self, procedures: frozenset[str]) -> None:
        """Raises QueryError unless everything it calls is known and what it makes is bounded."""
        growth = factor = 1
        squared = False
        for at, token in enumerate(self.tokens):
            if token.word in _BOUNDARIES:
                growth, factor, squared = growth * factor ** (2 if squared else 1), 1, False
            self._clauses(at, procedures)
            self._functions(at)
            squared = squared or self._is_loop(at)
            factor += self._adds(at)
            growth *= self._multiplies(at)
            self._matches(at)
        self._loops()
        if growth * factor ** (2 if squared else 1) > GROWTH_MAX:
            raise _refused(
                "texts or lists are put together in too many steps",
                "Return the parts on their own.",
            )

    def _word(self, at: int) -> str:
        return self.tokens[at].word if 0 <= at < len(self.tokens) else ""

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _is_call_of(self, at: int, *functions: str) -> bool:
        return (
            self._word(at) in functions and self._text(at + 1) == "(" and self._text(at - 1) != "."
        )

    def _clauses(self, at: int, procedures: frozenset[str]) -> None:
        word, before = self._word(at), self._text(at - 1)
        if word == "load" and self._word(at + 1) == "csv":
            raise _refused("LoadCSV is not a read of this graph", "Ask for what the graph holds.")
        if word == "use" and (
            before in {"", "{"} or self._word(at - 1) in {"union", "all", "distinct"}
        ):
            raise _refused("USE names another graph", "There is only this one.")
        if word == "call" and before not in {".", ":", "$"}:
            name, _ = self._dotted(at + 1)
            subquery = not name and self._text(at + 1) in {"(", "{"}
            if not subquery and name not in procedures:
                raise _refused(f"the procedure {name[:80]} is not on the list", _listed(procedures))

    def _functions(self, at: int) -> None:
        token = self.tokens[at]
        if token.kind == "name" and self._text(at + 1) == "(":
            raise _refused("a function is named in quotes", "Write its name as it is.")
        if (
            token.kind in {"word", "name"}
            and self._text(at - 1) != "."
            and self._word(at - 1) != "call"
        ):
            name, end = self._dotted(at)
            if "." in name and self._text(end) == "(" and token.word not in _NAMESPACES:
                raise _refused(
                    f"the function {name[:80]} is not known", "Use Neo4j's own functions."
                )
        if self._is_call_of(at, "reduce", "allreduce"):
            raise _refused("reduce cannot be bounded", "UNWIND the list and sum it up instead.")
        if (
            self._is_call_of(at, "range")
            and self._word(at - 1) != "unwind"
            and not self._is_short_range(at)
        ):
            raise _refused(
                "range in an expression cannot be bounded",
                "UNWIND range(...) AS x gives rows instead.",
            )

    def _dotted(self, at: int) -> tuple[str, int]:
        """The name that begins here, `a.b.c`, and where it ends. One in quotes keeps them, and so is on no list."""
        parts: list[str] = []
        while at < len(self.tokens) and self.tokens[at].kind in {"word", "name"}:
            parts.append(self.tokens[at].text)
            if self._text(at + 1) != ".":
                return ".".join(parts), at + 1
            at += 2
        return ".".join(parts), at

    def _is_short_range(self, at: int) -> bool:
        inside = self.tokens[at + 2 : self._closed_by[at + 1]]
        numbers = [token.text for token in inside if token.kind == "number"]
        plain = all(token.kind == "number" or token.text == "," for token in inside)
        return plain and all(
            number.isdecimal() and int(number) <= LITERAL_RANGE_MAX for number in numbers
        )

    def _is_loop(self, at: int) -> bool:
        """Whether an expression that goes over a list, or over all places of a pattern, begins here."""
        if self._is_call_of(at, *_QUANTIFIERS):
            return self._word(at + 3) == "in"
        if self._text(at) != "[" or self.tokens[at].kind != "mark":
            return False
        named = self.tokens[at + 1].kind in {"word", "name"} if at + 1 < len(self.tokens) else False
        pattern = self._text(at + 1) == "(" or (named and self._text(at + 2) == "=")
        return (named and self._word(at + 2) == "in") or (pattern and self._has_bar(at))

    def _has_bar(self, at: int) -> bool:
        return any(token.text == "|" for token in self.tokens[at : self._closed_by[at]])

    def _loops(self) -> None:
        end = -1
        for at in range(len(self.tokens)):
            if self._is_loop(at):
                if at < end:
                    raise _refused(
                        "a loop over a list stands in another", "UNWIND the outer list instead."
                    )
                opened = at if self._text(at) == "[" else at + 1
                end = self._closed_by[opened]

    def _adds(self, at: int) -> int:
        """How many more parts a value may be made of because of this token."""
        token = self.tokens[at]
        if token.kind != "mark":
            return 0
        if token.text == "+":
            return 1
        if token.text == "|":
            return int(self._text(at + 1) == "|")
        before = self.tokens[at - 1] if at else token
        return int(
            token.text == ","
            and self._in_literal[at]
            and (before.kind in {"word", "name"} or before.text in ")]}")
        )

    def _multiplies(self, at: int) -> int:
        if self._is_call_of(at, "split"):
            return _SPLIT_GROWTH
        if self._is_call_of(at, "normalize"):
            return _NORMALIZE_GROWTH
        if self._is_call_of(at, "replace"):
            last = self.tokens[self._closed_by[at + 1] - 1]
            said = (
                last.text[1:-1]
                if last.kind == "string" and self._text(self._closed_by[at + 1] - 2) == ","
                else None
            )
            if said is None or len(said) > REPLACEMENT_CHARACTERS_MAX:
                raise _refused(
                    "replace puts in what is not a short text", "Write the replacement in quotes."
                )
            return max(1, len(said))
        return 1

    def _matches(self, at: int) -> None:
        """Judge the pattern after `=~`: some take longer than the world will last."""
        if self._text(at) != "=" or self._text(at + 1) != "~":
            return
        parameter = self._text(at + 2) == "$"
        end = at + (4 if parameter else 3)
        said = self.tokens[end - 1] if end <= len(self.tokens) else Token("", "")
        pattern = (
            self.parameters.get(said.text)
            if parameter
            else said.text[1:-1]
            if said.kind == "string"
            else None
        )
        if not isinstance(pattern, str) or self._text(end) in {"+", "|", "[", "."}:
            raise _refused(
                "=~ takes a text in quotes or a parameter here", "CONTAINS needs no pattern."
            )
        repeats = len(_REPEAT.findall(pattern))
        if (
            len(pattern) > PATTERN_CHARACTERS_MAX
            or repeats > PATTERN_REPEATS_MAX
            or _REPEATED_GROUP.search(pattern)
        ):
            raise _refused(
                "the pattern after =~ could take for ever",
                "Repeat no group, and four times at most.",
            )


def _read(text: str) -> list[Token]:
    if len(text) > TEXT_CHARACTERS_MAX:
        raise _refused(
            f"the statement is longer than {TEXT_CHARACTERS_MAX:,} characters",
            "Send values as parameters.",
        )
    if re.search(r"\\u", text, re.IGNORECASE) or _ODD.search(text):
        raise _refused(
            "the statement has escaped or invisible characters",
            "Write them themselves, or as parameters.",
        )
    tokens = [
        Token(match.lastgroup or "", match.group())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "gap"
    ]
    if not tokens:
        raise _refused("there is no statement", "Send one.")
    longest = max(
        len(list(same)) for _, same in itertools.groupby(token.text.lower() for token in tokens)
    )
    if len(tokens) > TOKENS_MAX or longest > DEPTH_MAX:
        raise _refused("the statement has too many words", "Say it in several statements.")
    for token, following in zip(tokens, [*tokens[1:], Token("", "")], strict=True):
        if token.kind == "mark" and (
            token.text in "'\"`" or (token.text, following.text) == ("/", "*")
        ):
            raise _refused("a quotation or a comment is not ended", "End it.")
    return tokens


def _brackets(tokens: list[Token]) -> dict[int, int]:
    """Where each bracket is closed. Raises QueryError when one is not, or they are nested too deep."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _OPEN:
            waiting.append(at)
        elif token.kind == "mark" and token.text in _CLOSE:
            if not waiting or _OPEN.index(tokens[waiting[-1]].text) != _CLOSE.index(token.text):
                raise _refused("the brackets do not match", "Close each of them.")
            found[waiting.pop()] = at
        if len(waiting) > DEPTH_MAX:
            raise _refused(
                f"it is nested more than {DEPTH_MAX} deep", "Say it in several statements."
            )
    if waiting:
        raise _refused("the brackets do not match", "Close each of them.")
    return found


def _listed(procedures: frozenset[str]) -> str:
    return f"These are: {', '.join(sorted(procedures))}."


def _refused(why: str, hint: str) -> QueryError:
    return QueryError(f"refused: {why}", hint=hint)
