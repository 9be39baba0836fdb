"""A process that writes to a file rotates it, and loses no line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, sys
from pathlib import Path
from headwater.logs import rotation
path, lines = Path(sys.argv[1]), int(sys.argv[2])
for number in range(lines):
    os.write(1, b"%d out\\n" % number)
    os.write(2, b"%d error\\n" % number)
    if number % 100 == 99:
        rotation.rotate(path, int(sys.argv[3]))
"""
WATCHED = """
import os, sys, time
from pathlib import Path
from headwater.logs import rotation
rotation.POLL_SECONDS = 0.01
path = Path(sys.argv[1])
rotation.rotate_output(path, bytes_max=1_000, files_max=3)
number = 0

def rotated_twice():
    # In the order in which a rotation creates them: only then is the second one complete.
    names = (path.name + ".2", path.name + ".1", path.name)
    return all(path.with_name(name).exists() for name in names)

while not rotated_twice():
    os.write(1, b"%d\\n" % number)
    number += 1
    time.sleep(0.0001)
"""


def run(program: str, path: Path, *arguments: str) -> None:
    with path.open("ab") as output:
        subprocess.run(
            [sys.executable, "-c", program, str(path), *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            check=True,
            timeout=60,
        )


def numbered(path: Path) -> list[Path]:
    """Return the files of a log, the oldest first."""
    return [*sorted(path.parent.glob(f"{path.name}.*"), reverse=True), path]


def test_no_line_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    run(PROGRAM, path, "450", "9")
    files = numbered(path)
    assert next(file.name for file in files) == "serve.log.4"
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert lines == [f"{n} {what}" for n in range(450) for what in ("out", "error")]
    assert {file.stat().st_mode & 0o777 for file in files[1:]} == {0o600}


def test_the_number_of_files_is_bounded(tmp_path: Path) -> None:
    for files_max in (1, 2, 3):
        folder = tmp_path / str(files_max)
        folder.mkdir()
        run(PROGRAM, folder / "serve.log", "1000", str(files_max))
        assert len([*folder.iterdir()]) == files_max


def test_the_size_starts_a_rotation_while_the_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    run(WATCHED, path)
    lines = [int(line) for file in numbered(path) for line in file.read_text().splitlines()]
    assert lines == [*range(len(lines))]
