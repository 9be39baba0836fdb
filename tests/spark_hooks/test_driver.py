"""How a program ends, as `watch_driver` reports it: exceptions, exit codes, and neither."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

WATCHED = """
import json, os, sys
from headwater.spark_hooks.driver import watch_driver

def report(state, message, stack_trace):
    print(json.dumps([state, message]), flush=True)

watch_driver(report)
"""
CAUGHT = """
try:
    sys.exit(3)
except SystemExit as caught:
    assert caught.code == 3 and str(caught) == "3"
"""
FORKED = """
child = os.fork()
if child == 0:
    raise ValueError("in the child")
os.waitpid(child, 0)
"""


def reports(program: str, variables: dict[str, str] | None = None) -> tuple[int, list[list[str]]]:
    """Return the exit code of a watched program and what it reported."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED + program],
        capture_output=True,
        text=True,
        check=False,
        env=variables or {},
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("program", "ended"),
    [
        ("raise ValueError('bad')", (1, [["FAIL", "ValueError: bad"]])),
        ("raise KeyboardInterrupt", (-signal.SIGINT, [["ABORT", "KeyboardInterrupt"]])),
        ("sys.exit(3)", (3, [["FAIL", "The driver ended with exit code 3"]])),
        ("sys.exit('no rows')", (1, [["FAIL", "no rows"]])),
        ("sys.exit()", (0, [])),
        ("sys.exit(0)", (0, [])),
        (CAUGHT, (0, [])),
        (CAUGHT + "sys.exit(0)", (0, [])),
        (FORKED, (0, [])),
        ("import threading; threading.Thread(target=sys.exit, args=(3,)).start()", (0, [])),
    ],
)
def test_only_an_end_with_a_failure_is_reported(
    program: str, ended: tuple[int, list[list[str]]]
) -> None:
    assert reports(program) == ended


def test_spark_submit_sees_the_exit_code_itself() -> None:
    under_spark_submit = {"PYSPARK_GATEWAY_PORT": "1"}
    assert reports("sys.exit(3)", under_spark_submit) == (3, [])
    assert reports("raise ValueError('bad')", under_spark_submit) == (
        1,
        [["FAIL", "ValueError: bad"]],
    )


def test_a_report_that_fails_changes_nothing() -> None:
    broken = "def report(*_):\n    raise OSError\nwatch_driver(report)\nsys.exit(3)"
    assert reports(broken) == (3, [])
