"""The report of an import as JSON."""

from __future__ import annotations

from headwater.importers.report import ImportReport


def test_counts_and_problems() -> None:
    report = ImportReport()
    report.counts["models"] += 2
    report.add_problem("a.sql:3", "it is not closed")
    report.notes.append("There are no runs.")
    assert report.to_json() == {
        "read": {"models": 2},
        "problems": [{"place": "a.sql:3", "reason": "it is not closed"}],
        "notes": ["There are no runs."],
    }
