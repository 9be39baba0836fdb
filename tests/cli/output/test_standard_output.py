"""A standard output that the caller has closed is an error of the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headwater.cli import audit, export, result
from headwater.cli.output.standard_output import standard_output
from headwater.errors import QueryError


def test_a_closed_standard_output_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    for write in (
        standard_output,
        lambda: audit._output("-").__enter__(),
        lambda: export._output_stream(None).__enter__(),
        lambda: result._write_bytes(b"", None),
        lambda: result._open(None),
    ):
        with pytest.raises(QueryError, match="the standard output is closed") as caught:
            write()
        assert caught.value.hint


def test_the_command_has_an_exit_code_and_no_stack_trace(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headwater", "audit", "export", "-", "--home", str(tmp_path)]
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" >&-', *command], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == QueryError.exit_code
    assert done.stderr.startswith("headwater: the standard output is closed\n  Redirect it")
