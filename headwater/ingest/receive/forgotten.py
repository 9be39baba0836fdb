"""Values that an operator had forgotten: each is replaced by a keyed hash, wherever it stands.

A value is found by its words: runs of letters and digits, whatever stands between them, in upper or
lower case, in any normal form of Unicode, also percent-encoded, as entities of HTML, or with the
escapes of JSON within a text. So `ann@example.com` is found in `ANN%40example.com` and not in
`joann@example.com`. Only keyed hashes of the words are stored, so the list holds no value. Equal
values have equal hashes: names that differ still differ, and no lineage is lost.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from headwater.errors import EventError, QueryError, SettingsError
from headwater.schema.stored_json import decode

# Accents behind their letters, and characters that nobody sees: a soft hyphen, a space of no width.
_ACCENTS, _INVISIBLE = "\u0300-\u036f", "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_LETTERS = rf"[^\W_](?:[^\W_]|[{_ACCENTS}{_INVISIBLE}])*"
_SEPARATOR = "%(?:2[0-9A-Fa-f]|3[A-Fa-f]|40|5[B-Fb-f]|60|7[B-Fb-f])"
# A percent-encoded separator, or a word.
_WORD = re.compile(rf"{_SEPARATOR}|(?P<word>{_LETTERS})")
# The same in a text with escapes: those of control characters stand between words. A run of
# backslashes is read from its start alone.
_ESCAPED_WORD = re.compile(
    rf"{_SEPARATOR}|(?<!\\)\\++(?:[nrtbf]|u(?P<code>[0-9A-Fa-f]{{4}}))|(?P<word>{_LETTERS})"
)
# The number of an entity. Python reads none of more than 4,300 digits; Unicode needs seven.
_LONG_NUMBER = re.compile(r"(?<=&#)[0-9]{8,}+")
_REMOVE_INVISIBLE = dict.fromkeys(map(ord, _INVISIBLE))
_DECODINGS_MAX = 3
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*', re.DOTALL)
_HASH_CHARACTERS = 12
WORDS_MAX = 16
CHARACTERS_MIN = 4


class ForgottenValue(msgspec.Struct, frozen=True):
    """The record of a forgotten value.

    hash: the keyed hash of its words; words: their number.
    at: the time in ISO 8601; by: the user of the operating system.
    later: events that arrive later are searched for it too.
    counts: the places in which it stood, by store.
    """

    hash: str
    words: int
    at: str
    by: str
    later: bool
    counts: dict[str, int]


class _Word(NamedTuple):
    start: int
    end: int
    text: str


class Forgotten:
    """The search for forgotten values, by their hashes. Safe to share between threads.

    key: the key of redaction; values: the hash and the number of words of each value.
    """

    def __init__(self, key: bytes, values: Iterable[tuple[str, int]]) -> None:
        self._key = _hash_key(key)
        self._hashes = dict(values)
        self._lengths = sorted(set(self._hashes.values()), reverse=True)

    def rewrite(self, body: bytes) -> bytes:
        """Return JSON or text without the values; the same object if it has none.

        In JSON only the strings and numbers that have a value change. A number becomes a string.
        """
        if not is_json(body):
            text = body.decode("utf-8", "surrogateescape")
            clean = self.rewrite_text(text)
            return body if clean is text else clean.encode("utf-8", "surrogateescape")
        parts: list[bytes] = []
        done = 0
        for token in _TOKEN.finditer(body):
            inner = token[0]
            text = inner.decode("utf-8", "replace")
            text = json.loads(text) if text.startswith('"') else text
            clean = self.rewrite_text(text)
            if clean is not text:
                parts += (body[done : token.start()], json.dumps(clean).encode())
                done = token.end()
        return b"".join((*parts, body[done:])) if parts else body

    def rewrite_text(self, text: str) -> str:
        """Return a text without the values; the same object if it has none."""
        clean = self._replaced(text)
        decoded = clean
        for _ in range(_DECODINGS_MAX):
            decoded, before = _without_entities(unquote(decoded)), decoded
            if decoded == before:
                break
            if (replaced := self._replaced(decoded)) is not decoded:
                # Encoded letters: the whole text is replaced, as no part of it can be cut.
                return replaced
        return clean

    def _replaced(self, text: str) -> str:
        clean = self._without_matches(text, _WORD)
        return self._without_matches(clean, _ESCAPED_WORD) if "\\" in clean else clean

    def _without_matches(self, text: str, pieces: re.Pattern[str]) -> str:
        words = _words(text, pieces)
        parts: list[str] = []
        done = index = 0
        while index < len(words):
            length, hash = self._match(words, index)
            if length:
                parts += (text[done : words[index].start], mask_of(hash))
                done = words[index + length - 1].end
            index += length or 1
        return "".join((*parts, text[done:])) if parts else text

    def _match(self, words: Sequence[_Word], index: int) -> tuple[int, str]:
        """Return the number of words of the value that begins at a word, or 0, and its hash."""
        for length in self._lengths:
            if index + length <= len(words):
                hash = _hash(self._key, words[index : index + length])
                if self._hashes.get(hash) == length:
                    return length, hash
        return 0, ""


def hash_value(key: bytes, value: str) -> tuple[str, int]:
    """Return the keyed hash of a value and the number of its words.

    Raises QueryError if the value is too short or too long to be found.
    """
    words = _words(value)
    if sum(len(word.text) for word in words) < CHARACTERS_MIN or len(words) > WORDS_MAX:
        raise QueryError(
            f"a value needs {CHARACTERS_MIN} letters or digits and at most {WORDS_MAX} words",
            hint="A shorter one would be found where nobody is meant.",
        )
    return _hash(_hash_key(key), words), len(words)


def mask_of(hash: str) -> str:
    """Return the text that stands for a value, by its hash."""
    return f"<forgotten:{hash[:_HASH_CHARACTERS]}>"


def read_forgotten(path: Path) -> list[ForgottenValue]:
    """Return the records of forgotten values. Raises SettingsError if the file is malformed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[ForgottenValue])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(
            f"the list of forgotten values {path} cannot be read: {error}",
            hint="Restore the file from a backup.",
        ) from error


def load_forgotten(path: Path, key: bytes) -> Forgotten | None:
    """Return the search for the values that later events must not have; None without any.

    Raises SettingsError.
    """
    values = [(one.hash, one.words) for one in read_forgotten(path) if one.later]
    return Forgotten(key, values) if values else None


def _words(text: str, pieces: re.Pattern[str] = _WORD) -> list[_Word]:
    """Return the words of a text; pieces without a gap between them are one word."""
    found: list[tuple[int, int, list[str]]] = []
    is_open = False
    for match in pieces.finditer(text):
        groups = match.groupdict()
        letters = groups["word"] or (chr(int(groups["code"], 16)) if groups.get("code") else "")
        if not letters or not (groups["word"] or letters.isalnum()):
            is_open = False
        elif is_open and found[-1][1] == match.start():
            start, _, joined = found[-1]
            joined.append(letters)
            found[-1] = (start, match.end(), joined)
        else:
            found.append((match.start(), match.end(), [letters]))
            is_open = True
    return [_Word(start, end, _normalised("".join(joined))) for start, end, joined in found]


def _without_entities(text: str) -> str:
    """Return a text with the characters that its entities of HTML stand for."""
    short = _LONG_NUMBER.sub(lambda number: number[0].lstrip("0")[:8] or "0", text)
    return html.unescape(short)


def _normalised(word: str) -> str:
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word.translate(_REMOVE_INVISIBLE))
    return word.casefold()


def _hash_key(key: bytes) -> bytes:
    return hashlib.sha256(b"forgotten:" + key).digest()


def _hash(key: bytes, words: Iterable[_Word]) -> str:
    text = "\x1f".join(word.text for word in words)
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=key, digest_size=32).hexdigest()


def is_json(body: bytes) -> bool:
    """Return True if a body is a document of JSON, also with values that Python cannot hold."""
    try:
        decode(body)
    except EventError:
        return False
    return True
