"""The delivery of imported events: to a file, to standard output, with counts and problems."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import typer

from headwater.cli import imports
from headwater.cli.imports import Delivery, deliver, sql
from headwater.cli.send import open_unpacked
from headwater.errors import QueryError
from headwater.importers.report import ImportReport
from headwater.schema.headwater_facets import Event, source_event


def events(report: ImportReport, number: int, problems: int = 0) -> Iterator[Event]:
    for one in range(number):
        report.counts["models"] += 1
        yield source_event(f"t{one}", captured_at="2026-01-01")
    for one in range(problems):
        report.add_problem(f"etl.sql:{one + 1}", "the SQL cannot be read")


def run(delivery: Delivery, number: int, problems: int = 0) -> int:
    report = ImportReport()
    try:
        deliver(events(report, number, problems), report, delivery)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def test_a_dry_run_prints_the_events_and_the_counts_beside_them(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert run(Delivery(dry_run=True), 2, problems=1) == 0
    out, err = capfdbinary.readouterr()
    names = [json.loads(line)["dataset"]["name"] for line in out.splitlines()]
    assert names == ["t0", "t1"]
    assert err.decode().splitlines() == [
        "read: models 2",
        "2 events written",
        "1 passed over:",
        "  etl.sql:1: the SQL cannot be read",
    ]


def test_a_name_commands_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    report = ImportReport()
    report.add_problem("a\x1b[2J\nfake: line", "\u202eit is odd")
    report.add_problem("z" * 100_000, "it is long")
    report.notes.append("\x9bnote")
    with pytest.raises(typer.Exit):
        deliver(iter(()), report, Delivery(dry_run=True))
    lines = capsys.readouterr().err.splitlines()
    assert lines[2:5] == [
        "note: \ufffdnote",
        "2 passed over:",
        "  a\ufffd[2J fake: line: \ufffdit is odd",
    ]
    assert len(lines[5]) == 1_001


def test_a_file_of_events_and_a_summary_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "events.jsonl"
    assert run(Delivery(output=str(file), as_json=True), 3, problems=1) == 0
    assert len(file.read_text().splitlines()) == 3
    assert json.loads(capsys.readouterr().out) == {
        "written": 3,
        "refused": [],
        "read": {"models": 3},
        "problems": [{"place": "etl.sql:1", "reason": "the SQL cannot be read"}],
        "notes": [],
    }


@pytest.mark.parametrize(
    ("strict", "number", "problems", "code"),
    [(False, 1, 1, 0), (True, 1, 1, 4), (True, 1, 0, 0), (False, 0, 1, 4), (False, 0, 0, 0)],
)
def test_the_exit_code(tmp_path: Path, strict: bool, number: int, problems: int, code: int) -> None:
    delivery = Delivery(output=str(tmp_path / "events"), strict=strict)
    assert run(delivery, number, problems) == code


def test_no_file_is_left_of_an_import_that_ends_early(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    def broken() -> Iterator[Event]:
        yield source_event("t", captured_at="2026-01-01")
        raise QueryError("the source is gone")

    with pytest.raises(QueryError, match="gone"):
        deliver(broken(), ImportReport(), Delivery(output=str(file)))
    assert not file.exists()


def test_two_destinations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="exclude each other"):
        deliver(iter(()), ImportReport(), Delivery(dry_run=True, output=str(tmp_path / "x")))


@pytest.mark.timeout(60)
def test_pipes_and_devices_in_a_folder_of_sql_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "etl"
    folder.mkdir()
    (folder / "a.sql").write_text("insert into t select a from s;")
    (folder / "link.sql").symlink_to("a.sql")
    os.mkfifo(folder / "pipe.sql")
    (folder / "zero.sql").symlink_to("/dev/zero")
    (folder / "loop.sql").symlink_to("loop.sql")
    monkeypatch.chdir(tmp_path)
    sql([str(folder)], output=str(tmp_path / "events.jsonl"), as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert shown["read"]["files"] == 2
    assert [(Path(one["place"]).name, one["reason"]) for one in shown["problems"]] == [
        ("loop.sql", "it is no regular file"),
        ("pipe.sql", "it is no regular file"),
        ("zero.sql", "it is no regular file"),
    ]


@pytest.mark.timeout(60)
def test_a_packed_file_is_limited_by_its_unpacked_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.importers.sql.logs.LINE_CHARACTERS_MAX", 1_000_000)
    file = tmp_path / "bomb.sql"
    file.write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(typer.Exit):
        sql([str(file)], output=str(tmp_path / "events.jsonl"), as_json=True)
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem == {"place": str(file), "reason": "line 1 is longer than 1,000,000 characters"}


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_packed_file_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    packed = gzip.compress(b"select 1;\n" * 100)
    file = tmp_path / "a.sql"
    file.write_bytes(packed[:-12] if damage == "cut" else packed[:-6] + b"\0" * 6)
    with pytest.raises(typer.Exit):
        sql([str(file)], output=str(tmp_path / "events.jsonl"), as_json=True)
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem == {"place": str(file), "reason": "its compressed data is cut or damaged"}


def test_a_file_that_may_not_be_read_stops_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.sql", "b.sql"):
        (tmp_path / name).write_text("insert into t select a from s;")

    def opened(path: str) -> AbstractContextManager[io.BufferedIOBase]:
        if path.endswith("a.sql"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return open_unpacked(path)

    monkeypatch.setattr(imports, "open_unpacked", opened)
    sql([str(tmp_path)], output=str(tmp_path / "events.jsonl"), as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert shown["read"]["files"] == 1
    assert shown["problems"] == [
        {"place": str(tmp_path / "a.sql"), "reason": "it cannot be read: Permission denied"}
    ]
