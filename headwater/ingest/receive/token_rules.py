"""Tokens that are recognised by their form, by the rules of betterleaks (`token_rules.toml`).

RE2 runs the rules, so the time is proportional to the length of a text. Most texts contain no
keyword of any rule, and one pattern finds that. The next pattern combines all rules without their
bounds: it matches if any rule does. Only then the rules are tried one by one.

An `assigned` rule needs a name before the secret, such as `datadog_key = `. The name may be that of
the property which holds the text. A word without a digit, such as a title, is not its secret.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import re2

_MASK = b"***"
_MEMORY_BYTES_MAX = 2**28
_REPETITION = re.compile(r"\{(\d+)(,?)(\d*)\}")
_REPEATED_MAX, _WINDOW_MAX = 12, 40
_DIGIT = re.compile(rb"[0-9]")


class _Rule(NamedTuple):
    """A pattern of RE2; its group is the secret."""

    keywords: tuple[bytes, ...]
    pattern: Any
    group: int
    is_assigned: bool


def may_be_in(body: bytes) -> bool:
    """Return True if a rule may match; False is always right."""
    return _keywords().search(body) is not None and _any_rule().search(body) is not None


def without_tokens(text: str, name: str | None) -> str:
    """Return a text without its tokens.

    name: the name of the property that holds the text; None for a name or an id, to which no
        assigned rule applies.
    """
    before = f'{name}="'.encode(errors="replace") if name is not None else b'"'
    body = before + text.encode("utf-8", "surrogatepass") + b'"'
    if not may_be_in(body):
        return text
    small = body.lower()
    clean = body
    for rule in _rules():
        if rule.is_assigned and name is None:
            continue
        if any(keyword in small for keyword in rule.keywords):
            clean = _without_matches(clean, rule, len(before))
    if clean == body:
        return text
    return clean[len(before) : -1].decode("utf-8", "surrogatepass")


def _without_matches(body: bytes, rule: _Rule, start: int) -> bytes:
    parts: list[bytes] = []
    done = 0
    for found in rule.pattern.finditer(body):
        begin, end = found.span(rule.group)
        if begin < start or (rule.is_assigned and not _DIGIT.search(body, begin, end)):
            continue
        parts += (body[done:begin], _MASK)
        done = min(end, len(body) - 1)
    return b"".join((*parts, body[done:]))


@cache
def _contents() -> list[dict[str, Any]]:
    path = files("headwater.ingest.receive").joinpath("token_rules.toml")
    rules: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["rules"]
    return rules


@cache
def _rules() -> tuple[_Rule, ...]:
    rules = []
    for content in _contents():
        pattern = _compiled(content["pattern"])
        group = content.get("group", min(pattern.groups, 1))
        keywords = tuple(word.encode() for word in content["keywords"])
        rules.append(_Rule(keywords, pattern, group, content.get("assigned", False)))
    return tuple(rules)


@cache
def _keywords() -> Any:
    words = sorted({word for content in _contents() for word in content["keywords"]})
    return _compiled("(?i)" + "|".join(re2.escape(word) for word in words))


@cache
def _any_rule() -> Any:
    """Return one pattern for all rules, with fewer bounds, so that it is small.

    It is for JSON too, where a letter may precede a token: that of the escape `\\n`.
    """
    return _compiled("|".join(f"(?:{_unbounded(rule['pattern'])})" for rule in _contents()))


def _unbounded(pattern: str) -> str:
    return _REPETITION.sub(_repetition, pattern.replace(r"\b", "").replace(r"\\[nr]", r"\\"))


def _repetition(found: re.Match[str]) -> str:
    """Return a repetition that matches at least the same texts."""
    least = int(found[1])
    most = int(found[3] or 10**9) if found[2] else least
    if least > _REPEATED_MAX:
        return f"{{{_REPEATED_MAX},}}"
    return f"{{{least},}}" if most > _WINDOW_MAX else found[0]


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY_BYTES_MAX
    options.log_errors = False
    return re2.compile(pattern, options)
