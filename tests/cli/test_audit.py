"""`headwater audit`: export, signed heads and verification, as an operator and an auditor use them."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from typer.testing import CliRunner, Result

from headwater.access.log import AccessLog
from headwater.access.store import AccessStore
from headwater.cli import app
from headwater.errors import HeadwaterError, QueryError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with a log of twenty entries."""
    home = tmp_path / "home"
    store = AccessStore(home / "access.db")
    for number in range(20):
        AccessLog(store).append("ci", "POST /cypher", "asked", number=number)
    store.close()
    return home


def run(home: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["audit", *words, "--home", str(home)], catch_exceptions=False)


def tamper(home: Path, statement: str) -> None:
    file = apsw.Connection(str(home / "access.db"))
    file.execute("DROP TRIGGER entry_stays; DROP TRIGGER entry_kept;" + statement)
    file.close()


def test_an_auditor_verifies_an_export_elsewhere(home: Path, tmp_path: Path) -> None:
    file, head, key = (str(tmp_path / name) for name in ("audit.jsonl", "head.json", "audit.pub"))
    shown = run(home, "export", file)
    assert "21 entries" in shown.stdout
    assert Path(file).stat().st_mode & 0o777 == 0o600
    Path(head).write_text(run(home, "head").stdout, encoding="utf-8")
    Path(key).write_text(run(home, "public-key").stdout, encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    found = run(elsewhere, "verify", file, "--head", head, "--public-key", key)
    assert found.stdout == "21 entries, all unchanged, in agreement with 1 head\n"
    newest = json.loads(Path(file).read_text(encoding="utf-8").splitlines()[-1])
    assert (newest["event.action"], newest["user.name"]) == ("audit export", "the command line")
    with pytest.raises(QueryError, match="no head can be verified"):
        run(elsewhere, "verify", file, "--head", head)
    lines = Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
    Path(file).write_text("".join([*lines[:7], *lines[8:]]), encoding="utf-8")
    with pytest.raises(HeadwaterError, match="entry 8 is missing before entry 9"):
        run(elsewhere, "verify", file)
    ended = run(elsewhere, "verify", file, "--json")
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["problem"] == {
        "position": 9,
        "reason": "entry 8 is missing before entry 9",
    }


def test_a_cut_end_of_the_store_is_found_by_its_head(home: Path, tmp_path: Path) -> None:
    head = tmp_path / "head.json"
    head.write_text(run(home, "head").stdout, encoding="utf-8")
    assert run(home, "verify", "--head", str(head)).exit_code == 0
    tamper(home, "DELETE FROM entry WHERE seq > 15")
    assert run(home, "verify").stdout == "15 entries, all unchanged\n"
    with pytest.raises(HeadwaterError, match="entries 16 to 20 are missing: a head has them"):
        run(home, "verify", "--head", str(head))


def test_a_part_is_exported_and_verified(home: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "audit.jsonl")
    tamper(home, "UPDATE entry SET at = at - 3600000000 WHERE seq <= 20")
    shown = json.loads(run(home, "export", file, "--since", "30m", "--json").stdout)
    assert shown == {"file": file, "entries": 1, "first": 21}
    assert "1 entry, all unchanged" in run(home, "verify", file, "--first", "21").stdout
    with pytest.raises(HeadwaterError, match="entries 1 to 20 are missing"):
        run(home, "verify", file)


def test_the_standard_output_has_only_lines(home: Path) -> None:
    shown = run(home, "export", "-")
    assert [json.loads(line)["event.sequence"] for line in shown.stdout.splitlines()] == [
        *range(1, 22)
    ]
    assert "21 entries" in shown.stderr


def test_what_cannot_be_verified_is_named(home: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadwaterError, match=r"there is no .*access\.db"):
        run(tmp_path, "verify")
    with pytest.raises(QueryError, match="--first is for an export"):
        run(home, "verify", "--first", "2")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(HeadwaterError, match=r"empty\.jsonl has no entries"):
        run(home, "verify", str(empty))
    with pytest.raises(OSError, match="No such file"):
        run(home, "export", str(tmp_path / "missing" / "audit.jsonl"))
