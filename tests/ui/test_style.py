"""The colours of the page: one definition of each token, registered, with the contrast that WCAG asks."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tests.repo.repository import ROOT

CSS = (ROOT / "headwater/ui/static/app.css").read_text(encoding="utf-8")
TOKENS = re.findall(r"^  --([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", CSS, flags=re.MULTILINE)
COLORS = {
    "light": {name: light for name, light, _ in TOKENS},
    "dark": {name: dark for name, _, dark in TOKENS},
}
GROUNDS = ("ground", "surface", "raised", "failed-ground", "stale-ground", "complete-ground")
STATES = ("complete", "running", "failed", "aborted", "abandoned", "stale", "unknown")
TEXT = ("ink", "soft", "link", "accent", *STATES)
MARKS = ("line-strong", "focus")


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours by WCAG 2.2: from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    parts = (int(color[index : index + 2], 16) / 255 for index in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_contrast_of_known_colours() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_marks_have_the_contrast_that_wcag_asks(theme: str) -> None:
    colors = COLORS[theme]
    pairs = {
        **dict.fromkeys(product(TEXT, GROUNDS[:3]), 4.5),
        **{("ink", ground): 4.5 for ground in GROUNDS},
        ("failed", "failed-ground"): 4.5,
        ("stale", "stale-ground"): 4.5,
        ("complete", "complete-ground"): 4.5,
        **dict.fromkeys(product(MARKS, GROUNDS[:3]), 3.0),
    }
    found = {pair: contrast(colors[pair[0]], colors[pair[1]]) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < pairs[pair]} == {}


def test_each_colour_is_registered_with_its_light_value() -> None:
    registered = re.findall(
        r'^@property --([\w-]+) \{ syntax: "<color>"; inherits: true; initial-value: (#\w{6}); \}$',
        CSS,
        flags=re.MULTILINE,
    )
    assert dict(registered) == COLORS["light"]


def test_colours_stand_in_tokens_only() -> None:
    rules = re.sub(r"^(  --[\w-]+:|@property ).*$", "", CSS, flags=re.MULTILINE)
    assert (
        re.findall(r"#[0-9a-f]{3,8}\b(?=[^{]*;)", re.sub(r"/\*.*?\*/", "", rules, flags=re.S)) == []
    )
