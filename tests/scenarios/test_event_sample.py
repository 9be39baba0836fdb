"""The lineage of single events: which have records, and where they were read and written."""

from __future__ import annotations

from pathlib import Path

from headwater.lineage.questions.run_steps import run_steps
from headwater.scenarios.event_sample import (
    as_lines,
    event_records,
    read_records,
    steps_facet,
    write_records,
)
from headwater.scenarios.rows import Rows
from headwater.scenarios.workshop import Job


def keep_even(rows: Rows) -> Rows:
    return [row for row in rows if row["n"] % 2 == 0]


JOB = Job("keep_even", ("raw",), "even", keep_even, {"id": "string", "n": "int"})
ROWS: Rows = [{"id": name, "n": number} for number, name in enumerate("abcd")]


def records(rate: float) -> Rows:
    return event_records(JOB, ROWS, keep_even(ROWS), "id", rate)


def test_each_event_has_its_positions_at_a_rate_of_one() -> None:
    found = [(one["key"], one["readAt"], one["writtenAt"]) for one in records(1.0)]
    assert found == [("a", 0, 0), ("b", 1, None), ("c", 2, 1), ("d", 3, None)]
    assert {(one["job"], one["readFrom"], one["writtenTo"]) for one in records(1.0)} == {
        ("keep_even", "raw", "even")
    }


def test_only_sampled_events_have_records() -> None:
    # The first 8 bytes of SHA-256 of the keys, over 2**64: a 0.79, b 0.24, c 0.18, d 0.10.
    assert [one["key"] for one in records(0.2)] == ["c", "d"]
    assert records(0.0) == []


def test_the_facet_has_the_counts_and_the_lost_keys() -> None:
    facet = steps_facet(JOB, records(1.0), "id")
    (step,) = run_steps(facet)
    assert step.name == "sampled_events"
    assert step.rows is not None
    assert (step.rows.key, step.rows.kept, step.rows.dropped, step.rows.added) == ("id", 2, 2, 0)
    assert sorted(step.rows.dropped_sample) == ["b", "d"]
    assert len(step.code_hash) == 16


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "new" / "records.jsonl"
    write_records(file, records(1.0))
    assert read_records(file) == records(1.0)
    assert as_lines(records(1.0)).count("\n") == 4
