"""`make setup`: from a fresh clone to a working `.venv/bin/headwater`, with nothing installed but Python and Java.

Promises: what is installed is what requirements.lock names, by hash, uv itself included; a second run with nothing
changed costs a fraction of a second; interrupted at any moment, the next run starts that part afresh; two runs at
once do the work once; a `.venv` that works and was made by somebody else is added to, never removed.
Refuses a machine without a usable Python or Java, and says how to install them.
Runs on the machine's own Python, so it imports the standard library and, of ours, only what needs no more.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
PYTHON = VENV / "bin" / "python"
# Holds the fingerprint of what is installed; there only while an installation is whole.
DONE = VENV / ".headwater"
# There while one of ours is under way, and so also after one that was interrupted.
UNFINISHED = VENV / ".headwater-unfinished"

NO_VENV = """This Python has no venv module: {python}
  Debian, Ubuntu   apt install python3-venv
  macOS            brew install python@3.12
  Fedora           dnf install python3
or name another Python, 3.11 or newer: make setup PYTHON=/path/to/python3"""


def main() -> int:
    with LOCK.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        wanted = fingerprint()
        if not installed(wanted):
            check_machine()
            install(wanted)
    # Costs milliseconds when the jars are there; always asked, for the cache is not ours alone.
    return run(str(PYTHON), "-m", "headwater.local", stdout=subprocess.DEVNULL)


def fingerprint() -> str:
    """Changes with the lock, the package's metadata, this file, the folder (scripts hold its path) and the Python."""
    told = hashlib.sha256(f"{ROOT}\n{sys.version}\n{os.path.realpath(sys.executable)}\n".encode())
    for file in (LOCK, ROOT / "pyproject.toml", Path(__file__)):
        told.update(file.read_bytes())
    return told.hexdigest()


def installed(wanted: str) -> bool:
    return (
        PYTHON.exists() and DONE.exists() and not UNFINISHED.exists() and DONE.read_text() == wanted
    )


def check_machine() -> None:
    """Ends the program, with a word how to fix it, when Python or Java are not as they should be."""
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        sys.exit(NO_VENV.format(python=sys.executable))
    # The package's own __init__ needs what is not installed yet; these two modules need nothing.
    package = types.ModuleType("headwater")
    package.__path__ = [str(ROOT / "headwater")]
    sys.modules["headwater"] = package
    errors = importlib.import_module("headwater.errors")
    java = importlib.import_module("headwater.local.java")
    try:
        found = java.find_java()
    except errors.JavaError as error:
        sys.exit(f"{error.message}\n  {error.hint}")
    say(
        f"Python {sys.version.split()[0]} at {sys.executable}, Java {found.version} at {found.program}"
    )


def install(wanted: str) -> None:
    if UNFINISHED.exists() or not PYTHON.exists():
        make_venv()
    UNFINISHED.touch()
    DONE.unlink(missing_ok=True)
    pip = (str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    must(*pip, "--require-hashes", "--only-binary=:all:", "-r", uv_alone())
    uv = (str(VENV / "bin" / "uv"), "pip", "install", "--python", str(PYTHON))
    say("installing what requirements.lock names")
    must(*uv, "--require-hashes", "-r", str(LOCK))
    must(*uv, "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    fresh = DONE.with_suffix(".new")
    fresh.write_text(wanted)
    fresh.replace(DONE)
    UNFINISHED.unlink()


def make_venv() -> None:
    say("making .venv")
    # Its Python goes first and comes last, so that half a folder is never taken for a whole one.
    PYTHON.unlink(missing_ok=True)
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    UNFINISHED.touch()
    must(sys.executable, "-m", "venv", str(VENV))


def uv_alone() -> str:
    """A file with uv's own lines of the lock: pip installs it, and it installs the rest."""
    lines = LOCK.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("uv=="))
    end = next(
        (n for n, line in enumerate(lines[start + 1 :], start + 1) if not line.startswith(" ")),
        len(lines),
    )
    file = Path(tempfile.mkdtemp(dir=VENV, prefix=".uv-")) / "requirements.txt"
    file.write_text("\n".join(lines[start:end]) + "\n")
    return str(file)


def must(*command: str) -> None:
    if run(*command) != 0:
        sys.exit(
            f"make setup stopped: {Path(command[0]).name} failed. Once that is resolved, run it again."
        )


def run(*command: str, stdout: int | None = None) -> int:
    # A virtual environment that happens to be active must not be the one installed into.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"VIRTUAL_ENV", "PYTHONPATH"}
    }
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=stdout, check=False).returncode


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    try:
        status = main()
        for left_over in VENV.glob(".uv-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        sys.exit(status)
    except KeyboardInterrupt:
        sys.exit(130)
