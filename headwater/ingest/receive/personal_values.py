"""Values of personal data in free text that a deployment may redact: IBAN, US social security
numbers, phone numbers, and names of persons.

- `iban`: the length of its country and the check digits are right (ISO 13616, mod 97).
- `ssn`: 123-45-6789 or 123 45 6789, outside the ranges that are never given out: area 000, 666 and
  900 to 999, group 00, serial 0000.
- `phone`: an international number, with +, that its country can give out. `phone:DE` finds the
  national numbers of that region too. It needs the package phonenumberslite.
- `name`: by rules (`person_names.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import re2

from headwater.errors import SettingsError
from headwater.ingest.receive.long_texts import matches, replaced
from headwater.ingest.receive.person_names import MAY_BE, NAME, without_names

IBAN, SSN, PHONE = "iban", "ssn", "phone"

# Replaces a value: the class and the value in one form.
Replace = Callable[[str, str], str]

# The length of an IBAN by country, from the registry of SWIFT.
_LENGTHS = {
    15: "NO", 16: "BE", 18: "DK FO FI GL NL SD FK", 19: "MK SI", 20: "AT BA EE KZ LT LU XK MN",
    21: "CH CR HR LI LV", 22: "BG BH DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL OM SO",
    24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR",
    27: "FR GR IT MC MR SM BI DJ",
    28: "AL AZ BY CY DO GT HU LB PL SV NI", 29: "BR PS QA UA", 30: "JO KW MU YE", 31: "MT SC",
    32: "LC", 33: "RU",
}  # fmt: skip
_LENGTH_OF: dict[str, int] = {}
for _size, _countries in _LENGTHS.items():
    _LENGTH_OF.update(dict.fromkeys(_countries.split(), _size))
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?=[ -]?[A-Z0-9]{4})", re.ASCII)
_SSN = re.compile(
    r"(?<![\w.-])(?!000|666|9)[0-9]{3}([- ])(?!00)[0-9]{2}\1(?!0000)[0-9]{4}(?![\w-]|\.[0-9])",
    re.ASCII,
)
# The countries are those of the registry: a checksum has these letters too seldom to be slow.
_MAY_BE = {
    IBAN: rf"(?:{'|'.join(sorted(_LENGTH_OF))})[0-9]{{2}}[ -]?[A-Z0-9]{{4}}",
    SSN: "[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}",
}
_INTERNATIONAL = r"\+[ (]{0,2}[0-9][0-9 ()./-]{4}"
_NATIONAL = "[0-9][0-9 ()./-]{4,}[0-9]"
# A longer text is searched for phones in its first part only.
_PHONE_TEXT_MAX = 100_000


class PersonalValues:
    """The recognisers of some classes."""

    def __init__(self, classes: frozenset[str]) -> None:
        """Create recognisers of `iban`, `ssn`, `name`, `phone` or `phone:REGION`.

        Raises:
            SettingsError: A class is unknown, or the package for phone numbers is not installed.
        """
        may_be: list[str] = []
        self._finders: list[Callable[[str, Replace], str]] = []
        for name in sorted(classes):
            kind, _, region = name.partition(":")
            if kind == PHONE:
                may_be.append(_NATIONAL if region else _INTERNATIONAL)
                self._finders.append(partial(_without_phones, _phone_library(region), region))
            elif name in _FINDERS:
                may_be += filter(None, [_MAY_BE.get(name)])
                self._finders.append(_FINDERS[name])
            else:
                raise SettingsError(
                    f"HEADWATER_REDACTION_CLASSES: {name[:40]!r} is no class",
                    hint="Write iban, ssn, name, phone or phone:REGION, separated by commas.",
                )
        # RE2 needs a tenth of the time of `re`. Names have bytes outside of UTF-8.
        self._patterns: list[Any] = [MAY_BE] if NAME in classes else []
        if may_be:
            self._patterns.append(re2.compile("|".join(f"(?:{pattern})" for pattern in may_be)))

    def may_be_in(self, body: bytes) -> bool:
        """Return True if a value may be in a body; False is always right."""
        return any(pattern.search(body) for pattern in self._patterns)

    def redact(self, text: str, replace: Replace) -> str:
        """Return a text with its values replaced."""
        for find in self._finders:
            text = find(text, replace)
        return text


def redaction_classes(setting: str) -> frozenset[str]:
    """Return the classes of a setting: names, separated by commas."""
    words = filter(None, (word.strip() for word in setting.split(",")))
    pairs = [word.partition(":") for word in words]
    return frozenset(kind.lower() + colon + region.upper() for kind, colon, region in pairs)


def _phone_library(region: str) -> Any:
    try:
        library = import_module("phonenumbers")
    except ImportError as error:
        raise SettingsError(
            "the redaction of phone numbers needs the package phonenumberslite",
            hint="Install it: pip install 'headwater[server]'.",
        ) from error
    if region and region not in library.SUPPORTED_REGIONS:
        raise SettingsError(
            f"HEADWATER_REDACTION_CLASSES: there is no region {region[:10]!r}",
            hint="Write two letters, such as phone:DE.",
        )
    return library


def _without_ssns(text: str, replace: Replace) -> str:
    return replaced(_SSN, lambda found: replace(SSN, found[0].replace(" ", "-")), text)


def _without_ibans(text: str, replace: Replace) -> str:
    parts: list[str] = []
    done = 0
    for start in matches(_IBAN_START, text):
        if start.start() < done:
            continue
        value, end = _iban(text, start.start())
        if value:
            parts += (text[done : start.start()], replace(IBAN, value))
            done = end
    return "".join((*parts, text[done:]))


def _iban(text: str, start: int) -> tuple[str, int]:
    """Return the IBAN that begins at an index and its end, or "" without one."""
    length = _LENGTH_OF.get(text[start : start + 2], 0)
    value, index = "", start
    while len(value) < length and index < len(text):
        character = text[index]
        if character.isascii() and character.isalnum():
            value += character
        elif character not in " -" or not text[index - 1].isalnum():
            return "", start
        index += 1
    is_cut = index < len(text) and (text[index].isalnum() or text[index] == "_")
    if not length or len(value) < length or is_cut or not value.isupper():
        return "", start
    return (value, index) if _has_check_digits(value) else ("", start)


def _has_check_digits(iban: str) -> bool:
    digits = "".join(str(int(character, 36)) for character in iban[4:] + iban[:4])
    return int(digits) % 97 == 1


def _without_phones(library: Any, region: str, text: str, replace: Replace) -> str:
    parts: list[str] = []
    done = 0
    for found in library.PhoneNumberMatcher(text[:_PHONE_TEXT_MAX], region or None):
        if text[: found.start].endswith(":") and text[found.end :].startswith(">"):
            continue  # the digits of a hash, of an earlier redaction
        number = library.format_number(found.number, library.PhoneNumberFormat.E164)
        parts += (text[done : found.start], replace(PHONE, number))
        done = found.end
    return "".join((*parts, text[done:]))


_FINDERS: dict[str, Callable[[str, Replace], str]] = {
    IBAN: _without_ibans,
    SSN: _without_ssns,
    NAME: without_names,
}
