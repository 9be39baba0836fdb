"""Card numbers in texts: runs of digit groups with a right check digit."""

from __future__ import annotations

import re
from collections.abc import Callable

CARD = "card"
_GROUP = re.compile("[0-9]+")
_CARD_DIGITS = range(13, 20)
# The lengths of the groups of a card number: 4111 1111 1111 1111, 3782-822463-10005.
_CARD_GROUP = range(3, 8)
_CARD_FIRST = frozenset("23456")
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def without_cards(run: str, replace: Callable[[str, str], str]) -> str:
    """Return a run of digit groups with its card numbers replaced."""
    groups = [group.span() for group in _GROUP.finditer(run)]
    parts: list[str] = []
    done = first = 0
    while first < len(groups):
        digits, after = _card(run, groups, first)
        if digits:
            parts += (run[done : groups[first][0]], replace(CARD, digits))
            done = groups[after - 1][1]
        first = after
    return "".join((*parts, run[done:]))


def _card(text: str, groups: list[tuple[int, int]], first: int) -> tuple[str, int]:
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


def _luhn(digits: str) -> bool:
    """Return True if the check digit is right (ISO/IEC 7812-1)."""
    total = sum(map(int, digits[-1::-2])) + sum(_DOUBLED[int(digit)] for digit in digits[-2::-2])
    return total % 10 == 0
