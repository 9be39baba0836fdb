"""Text made harmless for one line."""

from __future__ import annotations

from headwater.gate.sanitize import one_line


def test_one_line_stays_one_line() -> None:
    assert one_line("a\nb\u2028c\x1b[0m\u202e") == "a\\u000ab\\u2028c\\u001b[0m\\u202e"
    assert "##[" not in one_line("x ##[error]y")
    assert len(one_line("x" * 5_000)) == 1_001
