"""A check of a caller's own statement for what the planner of Neo4j multiplies.

The planner does not look at the time meanwhile, and it can fill the memory of the server. So what
multiplies its work is counted before it gets the statement. The figures are of Neo4j 5.26 on two
cores.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.cypher.sandbox.tokens import Token, refused

# The planner writes `a XOR b` with both sides twice.
XORS_MAX = 4
# It multiplies the alternatives of labels, of one node and of the nodes of a path. A path of ten
# nodes `(:A|B)` takes a second, one of 15 two minutes. What joins labels counts, whichever it is:
# behind a negation, `&` and AND are alternatives too.
ALTERNATIVES_MAX = 10
# It doubles its work with each level of subqueries,
BRACES_MAX = 8
# and with each level of AND within OR: 14 levels take a second, 18 ten.
GROUPS_MAX = 8
# It compares the orders in which to match the parts of a pattern. A path of 12 nodes takes a
# second; one of 40 takes all the memory of the server.
PARTS_MAX = 12
PARTS_OF_STATEMENT_MAX = 40

_SPLIT = "Split it into several statements."
# A new pattern begins behind these.
_ENDS_OF_PATTERNS = frozenset({"with", "return", "unwind", "call", "union"})
_BOOLEANS = frozenset({"and", "or", "xor", "not", "where"})
_ENDS_OF_CONDITIONS = _ENDS_OF_PATTERNS | {"and", "or", "xor", "match"}
# Behind these stands a name, a label or a value, and no clause.
_BEFORE_NAMES = frozenset(
    {"and", "as", "by", "case", "contains", "distinct", "else", "in", "is", "limit", "match"}
    | {"not", "or", "return", "skip", "then", "unwind", "when", "where", "with", "xor", "yield"}
)


def require_quick_plan(tokens: Sequence[Token]) -> None:
    """Raise QueryError for a statement that the planner may take long for."""
    _check_names(tokens)
    _check_xors(tokens)
    _check_alternatives(tokens)
    _check_depths(tokens)
    _check_patterns(tokens)


def _text(tokens: Sequence[Token], position: int) -> str:
    return tokens[position].text if 0 <= position < len(tokens) else ""


def _word(tokens: Sequence[Token], position: int) -> str:
    return tokens[position].word if 0 <= position < len(tokens) else ""


def _check_names(tokens: Sequence[Token]) -> None:
    """Refuse names like `n:With`: each of these words must be what it looks like."""
    for at, token in enumerate(tokens):
        if token.word in _ENDS_OF_CONDITIONS and _is_name(tokens, at):
            raise refused(
                f"{token.text} is a word of Cypher and no name here", f"Write `{token.text}`."
            )


def _is_name(tokens: Sequence[Token], position: int) -> bool:
    """Return True for a word where a clause or an operator cannot stand: it follows no value."""
    before = tokens[position - 1] if position else Token("", "")
    if _is_test_of_text(tokens, position):
        return False
    if before.text == "{":
        return _text(tokens, position + 1) == ":"
    if before.text == "*":
        return _word(tokens, position - 2) not in {"with", "return", "distinct", "yield"}
    if before.word == "distinct":
        return _word(tokens, position - 2) != "union"
    is_operator = before.kind == "mark" and before.text not in ")]};"
    # `$limit`, `n.limit` and `AS limit` are values.
    is_value = _text(tokens, position - 2) in {"$", "."} or _word(tokens, position - 2) == "as"
    return is_operator or (before.word in _BEFORE_NAMES and not is_value)


def _is_test_of_text(tokens: Sequence[Token], position: int) -> bool:
    """Return True for the WITH of STARTS WITH and ENDS WITH."""
    return _word(tokens, position) == "with" and _word(tokens, position - 1) in {"starts", "ends"}


def _ends(tokens: Sequence[Token], position: int, words: frozenset[str]) -> bool:
    return tokens[position].word in words and not _is_test_of_text(tokens, position)


def _check_xors(tokens: Sequence[Token]) -> None:
    if sum(token.word == "xor" for token in tokens) > XORS_MAX:
        raise refused(f"there are more than {XORS_MAX} XOR", "Write `<>` between conditions.")


def _check_alternatives(tokens: Sequence[Token]) -> None:
    """Refuse many labels that are joined: by `|`, `&`, AND or OR."""
    joined = sum(
        token.text == "&" or _is_bar(tokens, at) or _joins_label(tokens, at)
        for at, token in enumerate(tokens)
    )
    if joined > ALTERNATIVES_MAX:
        raise refused(
            f"there are more than {ALTERNATIVES_MAX} `|` or `&`, or AND or OR between labels",
            _SPLIT,
        )


def _is_bar(tokens: Sequence[Token], position: int) -> bool:
    """Return True for `|` alone; `||` joins texts."""
    near = [_text(tokens, position + step) == "|" for step in (-1, 0, 1)]
    return near == [False, True, False]


def _joins_label(tokens: Sequence[Token], position: int) -> bool:
    """Return True for AND or OR before a condition on a label, whichever form it has.

    `n:A`, `(n):A`, `n IS A` and others are read alike. So every colon and IS counts, but for
    `IS NULL` and `IS NOT NULL`.
    """
    if tokens[position].word not in {"and", "or"}:
        return False
    for at in range(position + 1, len(tokens)):
        word = tokens[at].word
        if _ends(tokens, at, _ENDS_OF_CONDITIONS):
            return False
        if tokens[at].text == ":" or (word == "is" and not _is_null_test(tokens, at)):
            return True
    return False


def _is_null_test(tokens: Sequence[Token], position: int) -> bool:
    words = [_text(tokens, position + step).lower() for step in (1, 2)]
    return words[0] == "null" or words == ["not", "null"]


def _check_depths(tokens: Sequence[Token]) -> None:
    """Refuse deeply nested braces and conditions."""
    braces = groups = 0
    opened: list[bool] = []
    for at, token in enumerate(tokens):
        braces += (token.text == "{") - (token.text == "}")
        if token.text == "(":
            before = tokens[at - 1] if at else token
            is_within = before.text == "(" and bool(opened) and opened[-1]
            opened.append(before.word in _BOOLEANS or is_within)
            groups += opened[-1]
        elif token.text == ")" and opened:
            groups -= opened.pop()
        if braces > BRACES_MAX:
            raise refused(f"braces are nested more than {BRACES_MAX} deep", _SPLIT)
        if groups > GROUPS_MAX:
            raise refused(f"conditions are nested more than {GROUPS_MAX} deep", _SPLIT)


def _check_patterns(tokens: Sequence[Token]) -> None:
    """Refuse a pattern with many parts: relationships, paths after a comma, and MATCH clauses."""
    parts = of_statement = 0
    # The parts before each open brace.
    outer: list[int] = []
    for at, token in enumerate(tokens):
        if token.text == "{":
            outer.append(parts)
        if token.text == "{" or _ends(tokens, at, _ENDS_OF_PATTERNS):
            parts = 0
        elif token.text == "}" and outer:
            parts = outer.pop()
        elif token.word == "match" or _is_next_part(tokens, at):
            parts += 1
            of_statement += 1
        if parts > PARTS_MAX or of_statement > PARTS_OF_STATEMENT_MAX:
            raise refused(
                f"a pattern has more than {PARTS_MAX} parts, "
                f"or the statement more than {PARTS_OF_STATEMENT_MAX}",
                _SPLIT,
            )


def _is_next_part(tokens: Sequence[Token], position: int) -> bool:
    """Return True if a relationship, or another path after a comma, follows this parenthesis."""
    if _text(tokens, position) != ")":
        return False
    after = [_text(tokens, position + step) for step in (1, 2, 3)]
    if after[:2] == [",", "("]:
        return True
    if after[0] == "<":
        after = after[1:]
    return after[0] == "-" and after[1] in {"-", "["}
