"""Remove secrets and personal data from an event before its first byte is written to disk.

The patterns, and the properties exempt from them, are in `redact.toml`:

- Secrets become `***`: passwords in URLs and JDBC strings, signed URLs, tokens and private keys
  recognised by their form, and the value of any property with a secret name. Name and value may
  also be two properties of one object, as in the environmentVariables facet. Secrets are never
  hashed: a hashed password can be guessed.
- E-mail addresses and card numbers in any text become a keyed hash, `<email:3f2a9c0d1e2f>`. Equal
  addresses have equal hashes, and only the owner of the key can recover them. Names, owners and ids
  stay unchanged. A deployment may choose further classes (`personal_values.py`).
- Quoted literals in stack traces become `***`: they are the data that the program failed on.

A user and a password in a *name* (`postgres://etl:...@db` as a namespace) are removed without a
mask, so that all users of a location send one name. The rest of the event keeps its bytes: only
changed strings are written again.

Quick checks of the whole body pass most events. Only a suspicious body is read string by string.
The time is proportional to the length of any text. Most of an event repeats with every run of its
job, so harmless pieces are memoised by their bytes and not checked twice.
"""

from __future__ import annotations

import hmac
import json
import re
import string
import tomllib
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from headwater.ingest.receive.personal_values import PersonalValues
from headwater.schema.memo import Memo

_HASH_CHARACTERS = 12

_DATA: dict[str, Any] = tomllib.loads(
    files("headwater.ingest.receive").joinpath("redact.toml").read_text(encoding="utf-8")
)


class _Rule(NamedTuple):
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    mask: str


def _compiled(pattern: str, *, case: bool = False) -> re.Pattern[str]:
    flags = re.ASCII if case else re.ASCII | re.IGNORECASE
    return re.compile(pattern.replace("SECRET", _DATA["secret"]), flags)


def _rules(kind: str, prefix: str = "") -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            tuple(rule["needs"]),
            _compiled(rule.get(f"{prefix}pattern", rule["pattern"]), case=rule.get("case", False)),
            rule.get(f"{prefix}mask", rule["mask"]),
        )
        for rule in _DATA[kind]
    )


_IN_TEXT, _IN_NAMES, _LITERALS = _rules("secrets"), _rules("secrets", "place_"), _rules("literals")
_PERSONAL = {rule["what"]: _compiled(rule["pattern"]) for rule in _DATA["personal"]}


class _Kind(Enum):
    """The kind of a property's value, which follows from its name."""

    SECRET = "secret"
    NAME = "name"
    IDENTIFIER = "identifier"
    TRACE = "stack trace"
    TEXT = "text"


_SECRET_NAME = _compiled("SECRET")
_IDENTIFIER = re.compile(_DATA["identifiers"])


@lru_cache(maxsize=8_192)
def _kind(name: bytes) -> _Kind:
    text = name.decode("utf-8", "replace")
    if text in _DATA["names"]:
        return _Kind.NAME
    if _SECRET_NAME.search(text):
        return _Kind.SECRET
    if text in _DATA["stack_traces"]:
        return _Kind.TRACE
    return _Kind.IDENTIFIER if _IDENTIFIER.search(text) else _Kind.TEXT


# Quick checks ------------------------------------------------------------------------------------

# A search for one word in 6,000 bytes takes 3 microseconds. So the search first drops all letters
# that occur in no word. Letters that were apart may then form a word; the close check finds nothing
# there.
_SMALL = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())


class _Words:
    """Words to search for in a body reduced to some of their letters."""

    def __init__(self, words: list[str], letters: str, table: bytes | None = None) -> None:
        self._dropped = bytes(byte for byte in range(128) if chr(byte) not in letters)
        self._table = table
        self._words = tuple(dict.fromkeys(self._reduced(word.encode()) for word in words))

    def _reduced(self, text: bytes) -> bytes:
        return text.translate(self._table, self._dropped)

    def may_be_in(self, body: bytes) -> bool:
        reduced = self._reduced(body)
        for word in self._words:  # noqa: SIM110 (a generator would take as long as the search)
            if word in reduced:
                return True
        return False


_LETTERS = "".join(_DATA["traces"])
_TRACES = _Words(_DATA["traces"], _LETTERS + _LETTERS.upper(), _SMALL)
_EXACT_TRACES = _Words(_DATA["exact_traces"], _DATA["exact_letters"])
_MARKED_TRACES = {
    mark.encode(): "\0".join(traces).encode().split(b"\0")
    for mark, traces in _DATA["marked_traces"].items()
}


def _digit_class(byte: int) -> int:
    """Return the class of a byte: 0 for digits, a for letters, - for itself, . for the rest."""
    character = chr(byte)
    if character in string.digits:
        return ord("0")
    if character == "-":
        return byte
    return ord("a" if character.isalpha() else ".")


_DIGITS = bytes(map(_digit_class, range(256)))
# The possible beginnings of a card number: thirteen digits after a space or a mark, or two groups.
_CARDS = (b"." + b"0" * 13, b"0000-000", b"0000.000")
_CARD = re.compile(rb"(?<![\w.-])[2-6](?:[0-9]{12}|[0-9]{2,6}[ -][0-9]{3})", re.ASCII)


def _suspicious(body: bytes) -> bool:
    """Return True if any rule may match; False is always right, and the answer for most events."""
    if b"@" in body or (b"%" in body and b"%40" in body):
        return True
    if _TRACES.may_be_in(body) or _EXACT_TRACES.may_be_in(body):
        return True
    for mark, traces in _MARKED_TRACES.items():
        if mark in body:
            lower = body.lower()
            if any(trace in lower for trace in traces):
                return True
    digits = body.translate(_DIGITS)
    return any(card in digits for card in _CARDS) and _CARD.search(body) is not None


# An escape of an ordinary character: \u0040 for @, \/ for a slash.
_ESCAPE = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|.)", re.DOTALL)
_REQUIRED_ESCAPES = frozenset(b'"\\\x7f')


def _unescaped(body: bytes) -> bytes:
    """Return the same JSON with ordinary characters unescaped."""
    if b"\\" not in body or (b"\\u00" not in body and b"\\/" not in body):
        return body
    return _ESCAPE.sub(_character, body)


def _character(escape: re.Match[bytes]) -> bytes:
    if escape.group() == rb"\/":
        return b"/"
    if escape.group(1) is None or int(escape.group(1), 16) in _REQUIRED_ESCAPES:
        return escape.group()
    return bytes([int(escape.group(1), 16)])


# The close check ---------------------------------------------------------------------------------

# A property, with its value if that is a string or number; a string in an array; the braces of an
# object. An unterminated string extends to the end of the body, so that nothing is read twice.
_INNER = rb'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)'
_TOKEN = re.compile(
    _INNER + rb"(\s*+:\s*+(?:" + _INNER + rb"|(-?[0-9][0-9.eE+-]*+))?+)?+|[{}]", re.DOTALL
)
_NAME, _REST, _VALUE, _NUMBER = 1, 2, 3, 4
# The properties that name the property `value` of the same object.
_NAME_PROPERTIES = frozenset({b"name", b"key"})
# Most short strings are repeated.
_SHORT_BYTES_MAX = 200


@lru_cache(maxsize=65_536)
def _suspicious_short(text: bytes) -> bool:
    return _suspicious(b'"' + text + b'"')


def _suspicious_long(text: bytes) -> bool:
    return _suspicious(b'"' + text + b'"')


Span = tuple[int, int]


class _Object:
    """A JSON object while it is read.

    name: its current property.
    secret: True if a sibling property names `value` as a secret.
    value: the span of its property `value`.
    """

    __slots__ = ("name", "secret", "value")

    def __init__(self) -> None:
        self.name = b""
        self.secret = False
        self.value: Span | None = None


# Every facet has this property, so it splits an event into pieces; all but the first are seldom
# new. No rule can match across it. No searched word contains a quote, and the last quote of
# this name ends a JSON string, so a string that touches it is the name alone.
_SEPARATOR = b'"_producer"'
_TRACE_NAMES = tuple(f'"{name}"'.encode() for name in _DATA["stack_traces"])
_PIECE_BYTES_MAX = 256 * 1024  # a larger piece is not memoised
_MEMO_BYTES_MAX = 64 * 2**20


def _harmless(piece: bytes) -> bool:
    """Return True if nothing in a piece needs redaction; True is always right."""
    if _suspicious(b'"' + piece):  # in the event a quote precedes the piece
        return False
    # An unsuspicious stack trace may still contain literals, in quotes that JSON escapes.
    quoted = b"\\" in piece or b"'" in piece
    return not (quoted and any(name in piece for name in _TRACE_NAMES))


class Redactor:
    """A redactor with its key and its memo.

    key: the key of the hashes of e-mail addresses and card numbers.
    classes: further classes of personal data to hash, as `personal_values` has them.
    on_value: called with the class of each hashed value.
    memo_bytes_max: the approximate size of the memo of harmless pieces.
    """

    def __init__(
        self,
        key: bytes,
        classes: frozenset[str] = frozenset(),
        *,
        on_value: Callable[[str], None] | None = None,
        memo_bytes_max: int = _MEMO_BYTES_MAX,
    ) -> None:
        self._key = key
        self._values = PersonalValues(classes) if classes else None
        self._on_value = on_value
        self._harmless: Memo[bytes, bool] = Memo(
            memo_bytes_max, size=lambda piece, _: len(piece) + 150
        )

    def redact(self, body: bytes) -> bytes:
        """Return the event without secrets; the same object if it has none.

        Redacting a redacted event changes nothing.
        """
        plain = _unescaped(body)
        if self._is_harmless(plain):
            return body
        changes = self._changes(plain)
        if not changes:
            return body
        parts: list[bytes] = []
        done = 0
        for (start, end), text in sorted(changes.items()):
            parts += (plain[done:start], text)
            done = end
        return b"".join((*parts, plain[done:]))

    def _is_harmless(self, body: bytes) -> bool:
        memo = self._harmless
        for piece in body.split(_SEPARATOR):
            if memo.get(piece):
                continue
            if not _harmless(piece) or (self._values and self._values.may_be_in(piece)):
                return False
            if len(piece) <= _PIECE_BYTES_MAX:
                memo.put(piece, True)
        return True

    def _changes(self, body: bytes) -> dict[Span, bytes]:
        """Return the replacements of strings and numbers, by their spans."""
        changes: dict[Span, bytes] = {}
        outer, now = [], _Object()
        for token in _TOKEN.finditer(body):
            mark = token[0]
            if mark == b"{":
                outer.append(now)
                now = _Object()
            elif mark == b"}":
                now = outer.pop() if outer else now
            elif token[_REST] is None:
                self._string(changes, token, _NAME, _kind(now.name))
            else:
                now.name = token[_NAME]
                self._string(changes, token, _NAME, _Kind.NAME)
                self._property(changes, token, now)
        return changes

    def _property(self, changes: dict[Span, bytes], token: re.Match[bytes], now: _Object) -> None:
        value, kind = token[_VALUE], _kind(now.name)
        if value is None:
            if token[_NUMBER] is not None and (
                kind is _Kind.SECRET or (now.secret and now.name == b"value")
            ):
                changes[token.span(_NUMBER)] = _QUOTED_MASK
            return
        if now.name == b"value":
            now.value = _quoted(token, _VALUE)
            kind = _Kind.SECRET if now.secret else kind
        elif now.name in _NAME_PROPERTIES and _kind(value) is _Kind.SECRET:
            now.secret = True
            if now.value is not None:
                changes[now.value] = _QUOTED_MASK
        self._string(changes, token, _VALUE, kind)

    def _string(
        self, changes: dict[Span, bytes], token: re.Match[bytes], group: int, kind: _Kind
    ) -> None:
        if kind is _Kind.SECRET:
            changes[_quoted(token, group)] = _QUOTED_MASK
            return
        inner = token[group]
        is_suspicious = _suspicious_short if len(inner) <= _SHORT_BYTES_MAX else _suspicious_long
        has_values = self._values is not None and self._values.may_be_in(inner)
        if kind is not _Kind.TRACE and not has_values and not is_suspicious(inner):
            return
        text = _text(inner)
        clean = self._clean(text, kind)
        if clean != text:
            changes[_quoted(token, group)] = _json(clean)

    def _clean(self, text: str, kind: _Kind) -> str:
        text = _apply(text, _IN_NAMES if kind is _Kind.NAME else _IN_TEXT)
        if kind is _Kind.NAME:
            return text
        if kind is _Kind.TRACE:
            text = _apply(text, _LITERALS)
        if "@" in text or "%40" in text:
            text = _PERSONAL["email"].sub(self._email, text)
        if kind is _Kind.IDENTIFIER:
            return text
        text = _PERSONAL["card"].sub(self._cards, text)
        return self._values.redact(text, self._hashed) if self._values else text

    def _email(self, address: re.Match[str]) -> str:
        return self._hashed("email", address[0].replace("%40", "@").lower())

    def _cards(self, run: re.Match[str]) -> str:
        """Return a run of digit groups with its card numbers hashed."""
        text = run[0]
        groups = [group.span() for group in _GROUP.finditer(text)]
        parts: list[str] = []
        done = first = 0
        while first < len(groups):
            digits, after = _card(text, groups, first)
            if digits:
                parts += (text[done : groups[first][0]], self._hashed("card", digits))
                done = groups[after - 1][1]
            first = after
        return "".join((*parts, text[done:]))

    def _hashed(self, kind: str, value: str) -> str:
        if self._on_value is not None:
            self._on_value(kind)
        digest = hmac.digest(self._key, f"{kind}:{value}".encode("utf-8", "replace"), "sha256")
        return f"<{kind}:{digest.hex()[:_HASH_CHARACTERS]}>"


_HASHED = re.compile(r"<(email|card|iban|ssn|phone|name):")
# It searches, and what it hashes is thrown away.
_KEYLESS = Redactor(b"")


def find_personal_data(text: str, *, is_name: bool = False) -> frozenset[str]:
    """Return the kinds of personal data in a text: those that a redactor removes or has removed.

    is_name: True for the name of something. A long number in a name is seldom a card number.
    """
    if is_name:
        return frozenset({"email"} if _PERSONAL["email"].search(text) else ())
    return frozenset(_HASHED.findall(_KEYLESS._clean(text, _Kind.TEXT)))


def _apply(text: str, rules: tuple[_Rule, ...]) -> str:
    small = text.lower()
    for rule in rules:
        if all(need in small for need in rule.needs):
            text = rule.pattern.sub(rule.mask, text)
    return text


_QUOTED_MASK = b'"***"'
_GROUP = re.compile("[0-9]+")
_CARD_DIGITS = range(13, 20)
# The lengths of the groups of a card number: 4111 1111 1111 1111, 3782-822463-10005.
_CARD_GROUP = range(3, 8)
_CARD_FIRST = frozenset("23456")


def _card(text: str, groups: list[Span], first: int) -> tuple[str, int]:
    """Return the card number that begins with a group, or "", and the index of the next group."""
    digits = ""
    if text[groups[first][0]] in _CARD_FIRST:
        for index in range(first, len(groups)):
            group = text[slice(*groups[index])]
            digits += group
            if len(digits) >= _CARD_DIGITS.stop or (
                index > first and len(group) not in _CARD_GROUP
            ):
                break
            if len(digits) in _CARD_DIGITS and _luhn(digits):
                return digits, index + 1
            if len(group) not in _CARD_GROUP:
                break
    return "", first + 1


_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def _luhn(digits: str) -> bool:
    """Return True if the check digit is right (ISO/IEC 7812-1)."""
    total = sum(map(int, digits[-1::-2])) + sum(_DOUBLED[int(digit)] for digit in digits[-2::-2])
    return total % 10 == 0


def _quoted(token: re.Match[bytes], group: int) -> Span:
    """Return the span of a string with its quotes; an unterminated string has only one."""
    start, end = token.span(group)
    return start - 1, min(end + 1, token.end())


def _text(inner: bytes) -> str:
    text = inner.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:  # an invalid escape: the secret behind it must still be found
        return text


def _json(text: str) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can express
        return json.dumps(text).encode()
