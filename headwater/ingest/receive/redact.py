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
job, so harmless pieces and strings are memoised by their bytes and not checked twice.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable

from headwater.ingest.receive import token_rules
from headwater.ingest.receive.card_numbers import without_cards
from headwater.ingest.receive.long_texts import replaced
from headwater.ingest.receive.personal_values import PersonalValues
from headwater.ingest.receive.quick_checks import is_suspicious
from headwater.ingest.receive.redaction_rules import (
    ARGUMENT,
    DATA,
    IN_NAMES,
    IN_TEXT,
    LITERALS,
    NAME_PROPERTIES,
    PERSONAL,
    VALUE_PROPERTIES,
    Kind,
    apply_rules,
    kind_of,
)
from headwater.schema.memo import Memo

_HASH_CHARACTERS = 12
_ROUNDS_MAX = 8

# An escape of an ordinary character: \u0040 for @, \/ for a slash.
_ESCAPE = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|.)", re.DOTALL)
# The characters that stay escaped, in the shortest form.
_SHORT_ESCAPES = {ord('"'): rb"\"", ord("\\"): rb"\\", 0x7F: rb"\u007f"}


def _unescaped(body: bytes) -> bytes:
    """Return the same JSON with ordinary characters unescaped."""
    if b"\\" not in body or (b"\\u00" not in body and b"\\/" not in body):
        return body
    return _ESCAPE.sub(_character, body)


def _character(escape: re.Match[bytes]) -> bytes:
    if escape.group() == rb"\/":
        return b"/"
    if escape.group(1) is None:
        return escape.group()
    code = int(escape.group(1), 16)
    return _SHORT_ESCAPES.get(code) or bytes([code])


# The close check ---------------------------------------------------------------------------------

# A property, with its value if that is a string or number; a string in an array; the braces of an
# object. An unterminated string extends to the end of the body, so that nothing is read twice.
_INNER = rb'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)'
_TOKEN = re.compile(
    _INNER + rb"(\s*+:\s*+(?:" + _INNER + rb"|(-?[0-9][0-9.eE+-]*+))?+)?+|[{}]", re.DOTALL
)
_NAME, _REST, _VALUE, _NUMBER = 1, 2, 3, 4
# The names of properties are strings too; no property has this name.
_PROPERTY = b"\0"

Span = tuple[int, int]


class _Object:
    """A JSON object while it is read.

    name: its current property.
    secret: True if its own name, or a sibling property, names `value` as a secret.
    value: the span of its property `value`.
    argument: True if the previous string of an array names the next one as a secret.
    """

    __slots__ = ("argument", "name", "secret", "value")

    def __init__(self, name: bytes = b"") -> None:
        self.name = b""
        self.secret = kind_of(name) is Kind.SECRET
        self.value: Span | None = None
        self.argument = False


# Every facet has this property, so it splits an event into pieces; all but the first are seldom
# new. No rule can match across it. No searched word contains a quote, and the last quote of
# this name ends a JSON string, so a string that touches it is the name alone.
_SEPARATOR = b'"_producer"'
_TRACE_NAMES = tuple(f'"{name}"'.encode() for name in DATA["stack_traces"])
_PIECE_BYTES_MAX = 256 * 1024  # a larger piece is not memoised
_MEMO_BYTES_MAX = 64 * 2**20


def _harmless(piece: bytes) -> bool:
    """Return True if nothing in a piece needs redaction; True is always right."""
    if is_suspicious(b'"' + piece):  # in the event a quote precedes the piece
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
        return _with_changes(plain, changes) if changes else body

    def _is_harmless(self, body: bytes) -> bool:
        memo = self._harmless
        for piece in body.split(_SEPARATOR):
            if memo.get(piece):
                continue
            if not _harmless(piece) or (self._values is not None and self._values.may_be_in(piece)):
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
                now = _Object(now.name)
            elif mark == b"}":
                now = outer.pop() if outer else now
            elif token[_REST] is None:
                self._element(changes, token, now)
            else:
                now.name = token[_NAME]
                self._string(changes, token, _NAME, Kind.NAME, _PROPERTY)
                self._property(changes, token, now)
        return changes

    def _property(self, changes: dict[Span, bytes], token: re.Match[bytes], now: _Object) -> None:
        value, kind = token[_VALUE], kind_of(now.name)
        if value is None:
            if token[_NUMBER] is not None and (
                kind is Kind.SECRET or (now.secret and now.name in VALUE_PROPERTIES)
            ):
                changes[token.span(_NUMBER)] = _QUOTED_MASK
            return
        if now.name in VALUE_PROPERTIES:
            now.value = _quoted(token, _VALUE)
            kind = Kind.SECRET if now.secret else kind
        elif now.name in NAME_PROPERTIES and kind_of(value) is Kind.SECRET:
            now.secret = True
            if now.value is not None:
                changes[now.value] = _QUOTED_MASK
        self._string(changes, token, _VALUE, kind, now.name)

    def _element(self, changes: dict[Span, bytes], token: re.Match[bytes], now: _Object) -> None:
        """Redact a string of an array."""
        text = token[_NAME]
        is_secret = now.argument and not text.startswith(b"-")
        kind = Kind.SECRET if is_secret else kind_of(now.name)
        self._string(changes, token, _NAME, kind, now.name)
        now.argument = ARGUMENT.fullmatch(text) is not None

    def _string(
        self,
        changes: dict[Span, bytes],
        token: re.Match[bytes],
        group: int,
        kind: Kind,
        name: bytes,
    ) -> None:
        if kind is Kind.SECRET:
            changes[_quoted(token, group)] = _QUOTED_MASK
            return
        inner = token[group]
        named = _named(name, inner)
        if self._harmless.get(named):
            return
        if kind is Kind.TRACE or self._may_change(named):
            text = _text(inner)
            clean = self._stable(text, kind, name)
            if clean != text:
                changes[_quoted(token, group)] = _json(clean)
                return
        if len(named) <= _PIECE_BYTES_MAX:
            self._harmless.put(named, True)

    def _may_change(self, text: bytes) -> bool:
        """Return True if a text may need redaction; False is always right."""
        if is_suspicious(b'"' + text + b'"'):
            return True
        return self._values is not None and self._values.may_be_in(text)

    def _stable(self, text: str, kind: Kind, name: bytes) -> str:
        """Return a text redacted until another redaction changes nothing.

        A mask or a hash can form a new match with the text beside it.
        """
        for _ in range(_ROUNDS_MAX):
            clean = self._clean(text, kind, name)
            if clean == text:
                break
            text = clean
            # Quotes in a stack trace are no sign that the quick checks know.
            if kind is not Kind.TRACE and not self._may_change(_named(name, _encoded(text))):
                break
        return text

    def _clean(self, text: str, kind: Kind, name: bytes = b"") -> str:
        if kind is Kind.TEXT and text.startswith(("{", "[")) and text.endswith(("}", "]")):
            text = self._json_text(text)
        text = apply_rules(text, IN_NAMES if kind is Kind.NAME else IN_TEXT)
        is_text = kind in (Kind.TEXT, Kind.TRACE)
        text = token_rules.without_tokens(text, name.decode(errors="replace") if is_text else None)
        if kind is Kind.NAME:
            return text
        if kind is Kind.TRACE:
            text = apply_rules(text, LITERALS)
        if "@" in text or "%40" in text:
            text = replaced(PERSONAL["email"], self._email, text)
        if kind is Kind.IDENTIFIER:
            return text
        text = replaced(PERSONAL["card"], lambda run: without_cards(run[0], self._hashed), text)
        return self._values.redact(text, self._hashed) if self._values else text

    def _json_text(self, text: str) -> str:
        """Return JSON that is itself a string, redacted like an event."""
        body = _unescaped(_encoded(text))
        changes = self._changes(body)
        return _with_changes(body, changes).decode("utf-8", "surrogatepass") if changes else text

    def _email(self, address: re.Match[str]) -> str:
        return self._hashed("email", address[0].replace("%40", "@").lower())

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
        return frozenset({"email"} if PERSONAL["email"].search(text) else ())
    return frozenset(_HASHED.findall(_KEYLESS._clean(text, Kind.TEXT)))


_QUOTED_MASK = b'"***"'


def _named(name: bytes, value: bytes) -> bytes:
    """Return a value with the name that may make a secret of it: "datadog": "3f9a..."."""
    return name + b'":"' + value


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _with_changes(body: bytes, changes: dict[Span, bytes]) -> bytes:
    """Return a body with its spans replaced."""
    parts: list[bytes] = []
    done = 0
    for (start, end), text in sorted(changes.items()):
        parts += (body[done:start], text)
        done = end
    return b"".join((*parts, body[done:]))


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
