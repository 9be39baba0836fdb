"""Words about findings for people."""

from __future__ import annotations

from headwater.cli.show_findings import affected_words


def test_affected_words() -> None:
    nobody = {"answers": 0, "critical": 0, "datasets": 0, "jobs": 0}
    assert affected_words(nobody) == "nobody"
    assert affected_words({**nobody, "jobs": 2, "critical": 3}) == "3 critical, 2 jobs"
    assert affected_words({**nobody, "answers": 1}) == "1 answer"
    assert affected_words({**nobody, "jobs": 2, "truncated": True}) == "over 2 jobs"
