"""The files that the command `gate` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cli import gate
from headwater.errors import QueryError


def test_a_summary_is_appended_and_a_report_replaced(tmp_path: Path) -> None:
    file = tmp_path / "report"
    gate._write(str(file), b"one")
    gate._write(str(file), b"two")
    assert file.read_bytes() == b"two"
    gate._write(str(file), b"three", append=True)
    assert file.read_bytes() == b"twothree"
    gate._write(None, b"nothing")


def test_a_report_that_cannot_be_written_blocks(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="cannot be written"):
        gate._write(str(tmp_path / "none" / "report"), b"one")
