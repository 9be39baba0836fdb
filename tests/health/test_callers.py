"""Metrics of callers: names without end do not make labels without end."""

from __future__ import annotations

import pytest

from headwater.health import callers


def test_names_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "NAMES_MAX", 2)
    monkeypatch.setattr(callers, "_names", set())
    assert [callers._label(name) for name in ("a", "b", "a", "c", "b")] == [
        "a",
        "b",
        "a",
        "other",
        "b",
    ]
