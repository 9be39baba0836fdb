"""Tokens by their form: what is masked, and what stays."""

from __future__ import annotations

import string

import pytest

from headwater.ingest.receive.token_rules import may_be_in, without_tokens

ALPHABET = string.ascii_letters + string.digits
# No token stands here as a whole, so that scanners of repositories find none.
GITHUB = "ghp_" + ALPHABET[10:46]
GITLAB = "glpat-" + ALPHABET[20:40]


@pytest.mark.parametrize("token", [GITHUB, GITLAB], ids=["github", "gitlab"])
@pytest.mark.parametrize("name", ["message", None])
def test_a_token_is_masked_and_its_neighbours_stay(token: str, name: str | None) -> None:
    text = f"cloned with {token} at noon"
    assert may_be_in(text.encode())
    assert without_tokens(text, name) == "cloned with *** at noon"
    assert without_tokens(f"{token} and {token}", name) == "*** and ***"


def test_masked_text_stays_as_it_is() -> None:
    masked = without_tokens(f"cloned with {GITHUB}", "message")
    assert without_tokens(masked, "message") == masked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s3://lake/orders/2026-11-24",
        "3f2b8c1e-9d4a-4c11-8e7f-0a1b2c3d4e5f",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "select ghp_count, glpat_total from tokens",
        "sk-learn",
        "\ud800 \N{GRINNING FACE}",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert without_tokens(text, "sql") == text
    assert without_tokens(text, None) == text
