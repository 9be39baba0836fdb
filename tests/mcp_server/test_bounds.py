"""Answers of tools stay within their bound, and count what was cut."""

from __future__ import annotations

import json

from headwater.mcp_server.bounds import CHARACTERS_MAX, bounded


def test_a_small_answer_is_whole_but_for_nulls() -> None:
    content = {"nodes": [{"urn": "a", "namespace": None}], "truncated": False}
    assert bounded(content) == {"nodes": [{"urn": "a"}], "truncated": False, "omitted": {}}


def test_long_lists_are_cut_and_counted() -> None:
    runs = [
        {"urn": f"run:{n}", "stale": {"datasets": [{"urn": "x" * 100}] * 500}} for n in range(50)
    ]
    cut = bounded({"runs": runs})
    assert len(json.dumps(cut)) <= CHARACTERS_MAX
    kept = cut["runs"]
    shown = sum(len(run["stale"]["datasets"]) for run in kept)
    assert cut["omitted"] == {
        "runs": 50 - len(kept),
        "runs.stale.datasets": 500 * len(kept) - shown,
    }


def test_long_texts_are_cut() -> None:
    cut = bounded({"error": "e" * 100_000})
    assert cut["error"].endswith("…")
    assert cut["omitted"]["characters"] == 100_000 - len(cut["error"])
