"""A check of a caller's own statement, word by word, for dangers that EXPLAIN does not show.

A plan leaves out statements inside the loop of an expression: to it `[x IN [1] | COLLECT { LOAD CSV
... }]` is a projection. Neo4j applies its limits on time and memory between rows, not within one
expression. A text that is doubled forty times takes the server down; a loop that works on a long
list for each element of a long list outlasts any time limit. So the words are checked too: every
call must be known, a loop takes a short list and stands in no other, few steps go through a list or
text of any length, what is searched for is short, and no value may grow by more than a bounded
factor. Each refusal names another way to write the statement: UNWIND works row by row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headwater.cypher.sandbox.plan_check import require_quick_plan
from headwater.cypher.sandbox.tokens import Token, match_brackets, parse_tokens, refused

# The factor by which a value may be longer than its parts.
GROWTH_MAX = 200
# The elements of a list that the statement holds itself.
LITERAL_RANGE_MAX = 100
# Comparisons, IN and other steps that may go through a list or text of any length. A list that
# fills the memory of a statement takes up to three seconds for each.
STEPS_MAX = 30
# What is searched for in a text. Neo4j takes time by the product of both lengths.
NEEDLE_CHARACTERS_MAX = 200
# The functions whose lists a loop may take: as long as a path, or as the labels of a node. It may
# take a list that a node holds too.
SHORT_LISTS = frozenset({"nodes", "relationships", "labels"})
PATTERN_CHARACTERS_MAX = 200
# Neo4j matches by trying again: an unbounded repeat multiplies the time by the length of the text,
# and each optional part or alternative doubles it.
PATTERN_UNBOUNDED_MAX = 1
PATTERN_CHOICES_MAX = 8
PATTERN_COUNT_MAX = 20
# The number of ways to match, over all optional parts, alternatives and counts: `a{1,20}` has 20.
PATTERN_WAYS_MAX = 512
REPLACEMENT_CHARACTERS_MAX = 20
_SPLIT_GROWTH = 50
_NORMALIZE_GROWTH = 18

# An escaped sign counts too: whether it is escaped depends on every backslash before it.
_UNBOUNDED = re.compile(r"[*+]|\{\d*,\}")
_CHOICE = re.compile(r"[?|]|\{")
_ALTERNATIVE = re.compile(r"[?|]")
_COUNTS = re.compile(r"\{([^}]*)\}?")
_REPEATED_GROUP = re.compile(r"\)[*+?{]|\\+[1-9k]|\(\?(?![ims]{1,3}\))")
# Each element takes about a microsecond, a number with a point ten.
_CONVERSIONS = frozenset({"tobooleanlist", "tofloatlist", "tointegerlist", "tostringlist"})
_COPIES = frozenset({"tail", "reverse", "nullif", "valuetype"})
# The functions that search a text for their second argument.
_SEARCHES = frozenset({"replace", "split", "btrim", "ltrim", "rtrim"})
_CASES = frozenset({"tolower", "toupper", "lower", "upper"})
_QUANTIFIERS = frozenset({"any", "all", "none", "single"})
_BOUNDARIES = frozenset({"with", "return", "unwind"})
# Long traversals need it; `docs/reference/cypher.md` recommends it.
_PLANNER_OPTION = ["cypher", "statefulshortestplanningmode", "=", "all_if_possible"]
# Namespaces of functions that are Neo4j's own and harmless; any other could belong to a plugin.
_NAMESPACES = frozenset(
    {"date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector"}
)


class Statement:
    """The tokens of one statement. Raises QueryError for a text whose reading is ambiguous."""

    def __init__(self, text: str, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.tokens = parse_tokens(text)
        self._closed_by = match_brackets(self.tokens)
        self._in_literal = self._find_literals()

    def _find_literals(self) -> list[bool]:
        """Return for each token True if it stands in a literal list or map."""
        inside = [False] * len(self.tokens)
        for opened, closed in sorted(self._closed_by.items()):
            inside[opened:closed] = [self._is_literal(opened)] * (closed - opened)
        return inside

    def _is_literal(self, opened: int) -> bool:
        """Return True if a bracket opens a list or a map, not an index, a pattern or a block."""
        if self._text(opened) == "[":
            before = self.tokens[opened - 1] if opened else Token("", "")
            is_index = before.kind in {"name", "string"} or before.text in ")]"
            return before.text != "-" and not is_index
        if self._text(opened) != "{":
            return False
        return self._text(opened + 2) == ":" or self._text(opened + 1) == "`"

    def require_bounded(self, procedures: frozenset[str]) -> None:
        """Check the statement. Raises QueryError unless each call is known and each value is
        bounded."""
        self._check_prefix()
        require_quick_plan(self.tokens)
        growth = factor = 1
        squared = False
        if sum(map(self._is_step, range(len(self.tokens)))) > STEPS_MAX:
            raise refused(
                f"there are more than {STEPS_MAX} comparisons, IN, WHEN, CONTAINS and other steps "
                "that may go through a list or text",
                "Split it into several statements.",
            )
        for position, token in enumerate(self.tokens):
            if token.word in _BOUNDARIES:
                growth, factor, squared = growth * factor ** (2 if squared else 1), 1, False
            self._check_clause(position, procedures)
            self._check_function(position)
            squared = squared or self._is_loop(position)
            factor += self._added_parts(position)
            growth *= self._growth_of_call(position)
            self._check_pattern(position)
            self._check_search(position)
        self._check_loops()
        if growth * factor ** (2 if squared else 1) > GROWTH_MAX:
            raise refused(
                "texts or lists are put together in too many steps",
                "Return the parts on their own.",
            )

    def _word(self, position: int) -> str:
        return self.tokens[position].word if 0 <= position < len(self.tokens) else ""

    def _text(self, position: int) -> str:
        return self.tokens[position].text if 0 <= position < len(self.tokens) else ""

    def _is_call_of(self, position: int, *functions: str) -> bool:
        return (
            self._word(position) in functions
            and self._text(position + 1) == "("
            and self._text(position - 1) != "."
        )

    def _check_prefix(self) -> None:
        """Check the words before the statement: other options of the planner may make it slow."""
        texts = [token.text.lower() for token in self.tokens[:4]]
        first = 4 if texts == _PLANNER_OPTION else 0
        word = self._word(first)
        if word in {"explain", "profile"}:
            raise refused(
                f"{word.upper()} returns a plan and no rows", "Send the statement itself."
            )
        if word == "cypher" or (first and self._text(first + 1) == "="):
            raise refused(
                "CYPHER sets an option of the planner",
                "Send the statement itself. Only CYPHER "
                "statefulShortestPlanningMode=all_if_possible may stand before it.",
            )

    def _check_clause(self, position: int, procedures: frozenset[str]) -> None:
        word = self._word(position)
        if word == "load" and self._word(position + 1) == "csv":
            raise refused("LoadCSV is not a read of this graph", "Ask for what the graph holds.")
        if word == "use":
            follows_union = self._word(position - 1) in {"union", "all", "distinct"}
            if self._text(position - 1) in {"", "{"} or follows_union:
                raise refused("USE names another graph", "There is only this one.")
        if word == "call":
            name, _ = self._dotted(position + 1)
            is_subquery = not name and self._text(position + 1) in {"(", "{"}
            if not is_subquery and name not in procedures:
                raise refused(f"the procedure {name[:80]} is not on the list", _listed(procedures))

    def _check_function(self, position: int) -> None:
        token = self.tokens[position]
        if token.kind == "name" and self._text(position + 1) == "(":
            raise refused("a function is named in quotes", "Write its name without quotes.")
        is_name = token.kind in {"word", "name"}
        if is_name and self._text(position - 1) != "." and self._word(position - 1) != "call":
            name, end = self._dotted(position)
            if "." in name and self._text(end) == "(" and token.word not in _NAMESPACES:
                raise refused(
                    f"the function {name[:80]} is not known", "Use Neo4j's own functions."
                )
        if self._is_call_of(position, "reduce", "allreduce"):
            raise refused("reduce cannot be bounded", "UNWIND the list and sum it up instead.")
        if self._is_call_of(position, *_CONVERSIONS) and not self._is_short_list(position + 2):
            raise refused(
                f"{token.text} takes a list of any length",
                "Convert each value in rows: UNWIND list AS x RETURN toString(x).",
            )
        is_range = self._is_call_of(position, "range") and self._word(position - 1) != "unwind"
        if is_range and not self._is_short_range(position):
            raise refused(
                "range in an expression cannot be bounded", "Get rows with UNWIND range(...) AS x."
            )

    def _dotted(self, position: int) -> tuple[str, int]:
        """Return the name that begins here, `a.b.c`, and its end. Quotes stay, so a quoted name is
        on no list."""
        parts: list[str] = []
        while position < len(self.tokens) and self.tokens[position].kind in {"word", "name"}:
            parts.append(self.tokens[position].text)
            if self._text(position + 1) != ".":
                return ".".join(parts), position + 1
            position += 2
        return ".".join(parts), position

    def _is_short_range(self, position: int) -> bool:
        inside = self.tokens[position + 2 : self._closed_by[position + 1]]
        numbers = [token.text for token in inside if token.kind == "number"]
        plain = all(token.kind == "number" or token.text == "," for token in inside)
        return plain and all(
            number.isdecimal() and int(number) <= LITERAL_RANGE_MAX for number in numbers
        )

    def _is_loop(self, position: int) -> bool:
        """Return True if an expression over a list, or over all matches of a pattern, begins
        here."""
        if self._is_call_of(position, *_QUANTIFIERS):
            return self._word(position + 3) == "in"
        if self._text(position) != "[" or self.tokens[position].kind != "mark":
            return False
        is_last = position + 1 >= len(self.tokens)
        is_named = not is_last and self.tokens[position + 1].kind in {"word", "name"}
        if is_named and self._word(position + 2) == "in":
            return True
        is_pattern = self._text(position + 1) == "(" or (
            is_named and self._text(position + 2) == "="
        )
        return is_pattern and self._has_bar(position)

    def _has_bar(self, position: int) -> bool:
        return any(token.text == "|" for token in self.tokens[position : self._closed_by[position]])

    def _check_loops(self) -> None:
        end = -1
        for position in range(len(self.tokens)):
            if self._is_loop(position):
                if position < end:
                    raise refused(
                        "a loop over a list stands in another", "UNWIND the outer list instead."
                    )
                opened = position if self._text(position) == "[" else position + 1
                end = self._closed_by[opened]
                if self._word(opened + 2) == "in" and not self._is_short_list(opened + 3):
                    raise refused(
                        "a loop takes a list of any length",
                        "Loop over nodes(), relationships(), labels(), a property of a node or up "
                        f"to {LITERAL_RANGE_MAX} values, or write "
                        "COLLECT { UNWIND list AS x WITH x WHERE ... RETURN ... }.",
                    )

    def _is_short_list(self, position: int) -> bool:
        """Return True if a list of bounded length begins here, with nothing added to it."""
        if self._text(position) == "[":
            end = self._closed_by[position]
            commas = sum(token.text == "," for token in self.tokens[position:end])
            is_short = commas < LITERAL_RANGE_MAX
        elif self._is_call_of(position, "range", *SHORT_LISTS):
            # `_check_function` checks each range.
            end = self._closed_by[position + 1]
            is_short = True
        else:
            end = position + 2
            is_short = self._is_stored(position)
        while self._text(end + 1) == "[":  # a part of the list
            end = self._closed_by[end + 1]
        return is_short and (
            self._text(end + 1) in {"|", ")", "]"} or self._word(end + 1) == "where"
        )

    def _is_stored(self, position: int) -> bool:
        """Return True if a property of a node or relationship begins here: `n.tags`.

        A map could hold a list of any length, but its name would stand behind AS.
        """
        assigned = {
            self._text(at + 1).strip("`")
            for at, token in enumerate(self.tokens)
            if token.word == "as"
        }
        kinds = [token.kind for token in self.tokens[position : position + 3 : 2]]
        return (
            set(kinds) <= {"word", "name"}
            and self._text(position + 1) == "."
            and self._text(position).strip("`") not in assigned
        )

    def _is_step(self, position: int) -> bool:
        """Return True for what may go through a list or text of any length: a comparison, a search,
        a test of the type, a copy."""
        text, before, after = (self._text(position + step) for step in (0, -1, 1))
        if text in {"=", "<", ">"}:
            is_arrow = (text, after) == ("<", "-") or (before, text) == ("-", ">")
            return not is_arrow and before not in {"<", ">"}
        return (
            self._word(position) in {"contains", "in", "typed", "when"}
            or (text == after and text in {".", ":"})
            or self._is_call_of(position, *_COPIES, *_SEARCHES)
        )

    def _added_parts(self, position: int) -> int:
        """Return the number of parts that this token adds to a value."""
        token = self.tokens[position]
        if token.kind != "mark":
            return 0
        if token.text == "+":
            return 1
        if token.text == "|":
            return int(self._text(position + 1) == "|")
        before = self.tokens[position - 1] if position else token
        return int(
            token.text == ","
            and self._in_literal[position]
            and (before.kind in {"word", "name"} or before.text in ")]}")
        )

    def _growth_of_call(self, position: int) -> int:
        """Return the factor by which the function that is called here may lengthen a value."""
        if self._is_call_of(position, "split"):
            return _SPLIT_GROWTH
        if self._is_call_of(position, "normalize"):
            return _NORMALIZE_GROWTH
        if self._is_call_of(position, "replace"):
            return self._growth_of_replace(self._closed_by[position + 1])
        return 1

    def _growth_of_replace(self, closed: int) -> int:
        """Return the length of the replacement, the last argument of a call of replace."""
        last = self.tokens[closed - 1]
        is_literal = last.kind == "string" and self._text(closed - 2) == ","
        replacement = last.text[1:-1] if is_literal else None
        if replacement is None or len(replacement) > REPLACEMENT_CHARACTERS_MAX:
            raise refused(
                "the replacement in replace is not a short text",
                "Write the replacement in quotes.",
            )
        return max(1, len(replacement))

    def _check_search(self, position: int) -> None:
        """Check that what a text is searched for is short."""
        needle = -1
        if self._word(position) == "contains" and self._text(position - 1) != ".":
            needle = position + 1
        elif self._is_call_of(position, *_SEARCHES):
            needle = self._second_argument(position + 1)
        if needle >= 0 and not self._is_short_text(needle):
            raise refused(
                f"{self._text(position)} searches for a text of any length",
                f"Write it in quotes or as a parameter, of up to {NEEDLE_CHARACTERS_MAX} "
                f"characters, or as left(text, {NEEDLE_CHARACTERS_MAX}).",
            )

    def _second_argument(self, opened: int) -> int:
        """Return the position of the second argument of a call, or -1 without one."""
        position = opened + 1
        while position < self._closed_by[opened]:
            if self._text(position) == ",":
                return position + 1
            position = self._closed_by.get(position, position) + 1
        return -1

    def _is_short_text(self, position: int) -> bool:
        """Return True if a text of bounded length begins here, with nothing added to it."""
        if self._is_call_of(position, *_CASES):
            end = self._closed_by[position + 1]
            is_short = self._is_short_text(position + 2)
        elif self._is_call_of(position, "left"):
            end = self._closed_by[position + 1]
            length = self._text(self._second_argument(position + 1))
            is_short = (
                self._text(end - 2) == ","
                and length.isdecimal()
                and int(length) <= NEEDLE_CHARACTERS_MAX
            )
        else:
            is_parameter = self._text(position) == "$"
            end = position + is_parameter
            token = self.tokens[end] if end < len(self.tokens) else Token("", "")
            text = (
                self.parameters.get(token.text.strip("`")) if is_parameter else _literal_text(token)
            )
            is_null = is_parameter and text is None
            is_short = is_null or (isinstance(text, str) and len(text) <= NEEDLE_CHARACTERS_MAX)
        return is_short and self._text(end + 1) not in {"+", "|", "[", "."}

    def _check_pattern(self, position: int) -> None:
        """Check the regular expression after `=~`: some take practically for ever."""
        if self._text(position) != "=" or self._text(position + 1) != "~":
            return
        is_parameter = self._text(position + 2) == "$"
        end = position + (4 if is_parameter else 3)
        token = self.tokens[end - 1] if end <= len(self.tokens) else Token("", "")
        pattern = self.parameters.get(token.text) if is_parameter else _literal_text(token)
        if not isinstance(pattern, str) or self._text(end) in {"+", "|", "[", "."}:
            raise refused(
                "=~ takes a text in quotes or a parameter here", "CONTAINS needs no pattern."
            )
        if not _is_quick(pattern):
            raise refused(
                "the pattern after =~ could take for ever",
                "Repeat no group, use * or + once, and write STARTS WITH, CONTAINS or ENDS WITH "
                "where they do: toLower(d.name) CONTAINS 'order' instead of "
                "d.name =~ '(?i).*order.*'.",
            )


def _is_quick(pattern: str) -> bool:
    """Return True if matching takes a time proportional to the length of the text, for any text."""
    counts = [
        number
        for found in _COUNTS.findall(pattern)
        for number in found.split(",")
        if number.strip()
    ]
    return (
        len(pattern) <= PATTERN_CHARACTERS_MAX
        and len(_UNBOUNDED.findall(pattern)) <= PATTERN_UNBOUNDED_MAX
        and len(_CHOICE.findall(pattern)) <= PATTERN_CHOICES_MAX
        and all(one.isdecimal() and int(one) <= PATTERN_COUNT_MAX for one in counts)
        and _ways(pattern) <= PATTERN_WAYS_MAX
        and not _REPEATED_GROUP.search(pattern)
    )


def _ways(pattern: str) -> int:
    """Return the number of ways in which a pattern with valid counts may match a text."""
    ways = 1 << len(_ALTERNATIVE.findall(pattern))
    for found in _COUNTS.findall(pattern):
        bounds = [int(number) for number in found.split(",") if number.strip()]
        if "," in found:
            ways *= max(bounds, default=0) - (bounds[0] if len(bounds) > 1 else 0) + 1
    return ways


def _literal_text(token: Token) -> str | None:
    return token.text[1:-1] if token.kind == "string" else None


def _listed(procedures: frozenset[str]) -> str:
    return f"These are: {', '.join(sorted(procedures))}."
