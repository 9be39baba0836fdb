"""Secrets and what is personal are taken out of an event before the first byte of it is written to disk.

What is looked for, and where it is not, stands in `redact.toml`:

- secrets become `***`: passwords in URLs and JDBC strings, signed URLs, the value of any property whose name says that
  it is secret (also where name and value are two properties of one object, as in the environmentVariables facet),
  tokens and private keys by their form. They are never hashed: a password can be guessed
- e-mail addresses and card numbers in any text become a keyed hash, `<email:3f2a9c0d1e2f>`: the same address is still
  the same, and nobody without the key can tell whose it is. Names, owners and ids are left as they are
- in stack traces the quoted literals go too: they are the data that the program failed on

A user and password in a *name* (`postgres://etl:...@db` as a namespace) go without a trace, so that a place has one
name whoever goes there. Everything else of the event keeps its bytes: only the strings that change are written anew.

A few quick looks at the whole body let most events pass; only what may hold something is read string by string. It
takes time in proportion to the length of the text, whatever the text is. Most of an event is the same whenever its job
runs, so pieces in which there was nothing to find are known again by their bytes, and not looked at twice.
"""

from __future__ import annotations

import hmac
import json
import re
import string
import tomllib
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

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
    """What the name of a property says of its value."""

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


# Quick looks ---------------------------------------------------------------------------------------------------------

# To look for a word in six thousand bytes takes 3 microseconds, so it is looked for in fewer: what is in no word is
# dropped. Letters that were apart may so come together: then the event is looked at closely for nothing.
_SMALL = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())


class _Words:
    """Words to be found in a body at a glance, by these of their letters."""

    def __init__(self, words: list[str], letters: str, table: bytes | None = None) -> None:
        self._dropped = bytes(byte for byte in range(128) if chr(byte) not in letters)
        self._table = table
        self._words = tuple(dict.fromkeys(self._glance(word.encode()) for word in words))

    def _glance(self, text: bytes) -> bytes:
        return text.translate(self._table, self._dropped)

    def may_be_in(self, body: bytes) -> bool:
        glance = self._glance(body)
        for word in self._words:  # noqa: SIM110 (a generator would take as long as the search)
            if word in glance:
                return True
        return False


_LETTERS = "".join(_DATA["traces"])
_TRACES = _Words(_DATA["traces"], _LETTERS + _LETTERS.upper(), _SMALL)
_EXACT_TRACES = _Words(_DATA["exact_traces"], _DATA["exact_letters"])
_MARKED_TRACES = tuple(
    (mark.encode(), tuple(trace.encode() for trace in traces))
    for mark, traces in _DATA["marked_traces"].items()
)

_DIGITS = bytes(
    ord("0")
    if chr(byte) in string.digits
    else byte
    if chr(byte) == "-"
    else ord("a" if chr(byte).isalpha() else ".")
    for byte in range(256)
)
# How a card number may begin: thirteen digits behind a space or a mark, or a group of four and the next one.
_CARDS = (b"." + b"0" * 13, b"0000-000", b"0000.000")
_CARD = re.compile(rb"(?<![\w.-])[2-6](?:[0-9]{12}|[0-9]{2,6}[ -][0-9]{3})", re.ASCII)


def _suspicious(body: bytes) -> bool:
    """Whether any rule may match; False for most events, and never wrongly."""
    if b"@" in body or (b"%" in body and b"%40" in body):
        return True
    if _TRACES.may_be_in(body) or _EXACT_TRACES.may_be_in(body):
        return True
    for mark, traces in _MARKED_TRACES:
        if mark in body:
            lower = body.lower()
            if any(trace in lower for trace in traces):
                return True
    digits = body.translate(_DIGITS)
    return any(card in digits for card in _CARDS) and _CARD.search(body) is not None


# An escape that stands for an ordinary character: \u0040 for @, \/ for a slash.
_ESCAPE = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|.)", re.DOTALL)
_KEPT_ESCAPES = frozenset(b'"\\\x7f')


def _plain(body: bytes) -> bytes:
    """The same JSON, ordinary characters written as themselves."""
    if b"\\" not in body or (b"\\u00" not in body and b"\\/" not in body):
        return body
    return _ESCAPE.sub(_character, body)


def _character(escape: re.Match[bytes]) -> bytes:
    if escape.group() == rb"\/":
        return b"/"
    if escape.group(1) is None or int(escape.group(1), 16) in _KEPT_ESCAPES:
        return escape.group()
    return bytes([int(escape.group(1), 16)])


# A close look --------------------------------------------------------------------------------------------------------

# A property with its value if that is a string or number; a string in an array; the ends of an object. A string that
# never ends is read to the end of the body, so that nothing is read twice.
_INNER = rb'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)'
_TOKEN = re.compile(
    _INNER + rb"(\s*+:\s*+(?:" + _INNER + rb"|(-?[0-9][0-9.eE+-]*+))?+)?+|[{}]", re.DOTALL
)
_NAME, _REST, _VALUE, _NUMBER = 1, 2, 3, 4
# The property that says what the property `value` beside it is.
_NAMING = frozenset({b"name", b"key"})
# Most short strings come again and again.
_SHORT_BYTES_MAX = 200


@lru_cache(maxsize=65_536)
def _suspicious_short(text: bytes) -> bool:
    return _suspicious(b'"' + text + b'"')


def _suspicious_long(text: bytes) -> bool:
    return _suspicious(b'"' + text + b'"')


Span = tuple[int, int]


class _Object:
    """One JSON object while it is read: the property that is being read, the span of its property `value`, and whether
    a property beside it says that this one is secret."""

    __slots__ = ("name", "secret", "value")

    def __init__(self) -> None:
        self.name = b""
        self.secret = False
        self.value: Span | None = None


# Every facet has this property, so it cuts an event into pieces of which all but the first are seldom new. No rule can
# match across it: no word that is looked for has a quote in it, and in JSON its last quote is the end of a string, so
# that what stands in one string before and behind it is this name and nothing else.
_CUT = b'"_producer"'
_TRACE_NAMES = tuple(f'"{name}"'.encode() for name in _DATA["stack_traces"])
_PIECE_BYTES_MAX = 256 * 1024  # a larger one is looked at whenever it comes
_KNOWN_BYTES_MAX = 64 * 2**20


def _harmless(piece: bytes) -> bool:
    """Whether nothing in a piece of an event is to be taken out; never wrongly yes."""
    if _suspicious(b'"' + piece):  # what a piece begins with stood behind a quote
        return False
    # Where nothing is suspicious, a stack trace may have literals still; they have quotes, which JSON escapes.
    quoted = b"\\" in piece or b"'" in piece
    return not (quoted and any(name in piece for name in _TRACE_NAMES))


class Redactor:
    """Takes out what must not be kept. `key` is that of the hashes of e-mail addresses and card numbers; pieces of
    events that hold nothing are remembered in about `known_bytes_max` bytes."""

    def __init__(self, key: bytes, *, known_bytes_max: int = _KNOWN_BYTES_MAX) -> None:
        self._key = key
        self._harmless: Memo[bytes, bool] = Memo(
            known_bytes_max, size=lambda piece, _: len(piece) + 150
        )

    def redact(self, body: bytes) -> bytes:
        """The event without its secrets; the very same bytes when it has none. Redacting twice changes no more."""
        plain = _plain(body)
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
        known = self._harmless
        for piece in body.split(_CUT):
            if known.get(piece):
                continue
            if not _harmless(piece):
                return False
            if len(piece) <= _PIECE_BYTES_MAX:
                known.put(piece, True)
        return True

    def _changes(self, body: bytes) -> dict[Span, bytes]:
        """What to put in the place of which strings and numbers."""
        changes: dict[Span, bytes] = {}
        holders, now = [], _Object()
        for token in _TOKEN.finditer(body):
            mark = token[0]
            if mark == b"{":
                holders.append(now)
                now = _Object()
            elif mark == b"}":
                now = holders.pop() if holders else now
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
        elif now.name in _NAMING and _kind(value) is _Kind.SECRET:
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
        look = _suspicious_short if len(inner) <= _SHORT_BYTES_MAX else _suspicious_long
        if kind is not _Kind.TRACE and not look(inner):
            return
        text = _text(inner)
        clean = self._clean(text, kind)
        if clean != text:
            changes[_quoted(token, group)] = _json(clean)

    def _clean(self, text: str, kind: _Kind) -> str:
        text = _without(text, _IN_NAMES if kind is _Kind.NAME else _IN_TEXT)
        if kind is _Kind.NAME:
            return text
        if kind is _Kind.TRACE:
            text = _without(text, _LITERALS)
        if "@" in text or "%40" in text:
            text = _PERSONAL["email"].sub(self._email, text)
        return text if kind is _Kind.IDENTIFIER else _PERSONAL["card"].sub(self._cards, text)

    def _email(self, address: re.Match[str]) -> str:
        return self._hashed("email", address[0].replace("%40", "@").lower())

    def _cards(self, run: re.Match[str]) -> str:
        """A run of groups of digits, the card numbers in it hashed."""
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

    def _hashed(self, what: str, value: str) -> str:
        digest = hmac.digest(self._key, f"{what}:{value}".encode("utf-8", "replace"), "sha256")
        return f"<{what}:{digest.hex()[:_HASH_CHARACTERS]}>"


def _without(text: str, rules: tuple[_Rule, ...]) -> str:
    small = text.lower()
    for rule in rules:
        if all(need in small for need in rule.needs):
            text = rule.pattern.sub(rule.mask, text)
    return text


_QUOTED_MASK = b'"***"'
_GROUP = re.compile("[0-9]+")
_CARD_DIGITS = range(13, 20)
# 4111 1111 1111 1111, 3782-822463-10005: so many digits has a group of a card number that is written in groups.
_CARD_GROUP = range(3, 8)
_CARD_FIRST = frozenset("23456")


def _card(text: str, groups: list[Span], first: int) -> tuple[str, int]:
    """The digits of the card number that begins with this group, or "", and the group after it."""
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
    """Whether the check digit is right (ISO/IEC 7812-1)."""
    total = sum(map(int, digits[-1::-2])) + sum(_DOUBLED[int(digit)] for digit in digits[-2::-2])
    return total % 10 == 0


def _quoted(token: re.Match[bytes], group: int) -> Span:
    """Where a string stands, its quotes included; one that never ends has but one."""
    start, end = token.span(group)
    return start - 1, min(end + 1, token.end())


def _text(inner: bytes) -> str:
    text = inner.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:  # an escape that is none: what it hides must go all the same
        return text


def _json(text: str) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character, which only an escape can write
        return json.dumps(text).encode()
