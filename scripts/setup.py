"""Set up `.venv/bin/headwater` from a fresh clone, with only Python and Java installed.

    python scripts/setup.py demo           the command, local servers, Spark: `make demo`
    python scripts/setup.py development    also the tools of tests, checks and docs: `make setup`

It installs the files that the lock file of the chosen set names, by hash, uv itself included. The
set for development contains that of the demo. A second run without changes takes a fraction of a
second. An interrupted step is repeated by the next run. Two runs at once do the work once. A working
`.venv` of another origin is extended and never removed.

Without a usable Python or Java it stops and prints how to install them. It runs on the machine's
own Python. It imports only the standard library and two modules of Headwater that need nothing
else.
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
DEMO, DEVELOPMENT = "demo", "development"
LOCKS = {DEMO: ROOT / "requirements-demo.lock", DEVELOPMENT: ROOT / "requirements.lock"}
PYTHON = VENV / "bin" / "python"
# Exists during an installation, and therefore also after an interrupted one.
UNFINISHED = VENV / ".headwater-unfinished"

NO_VENV = """This Python has no venv module: {python}
  Debian, Ubuntu   apt install python3-venv
  macOS            brew install python@3.12
  Fedora           dnf install python3
or name another Python, 3.11 or newer: make setup PYTHON=/path/to/python3"""


def main(wanted: str) -> int:
    with LOCKS[DEVELOPMENT].open("rb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if not is_installed(wanted) and not is_installed(DEVELOPMENT):
            check_machine()
            install(wanted)
    # This takes milliseconds when the jars are there. Other programs share the cache, so check
    # every time.
    return run(str(PYTHON), "-m", "headwater.local", stdout=subprocess.DEVNULL)


def fingerprint(wanted: str) -> str:
    """Return a digest of the lock, the metadata, this file, the folder (scripts hold its path) and
    the Python.
    """
    digest = hashlib.sha256(f"{ROOT}\n{sys.version}\n{os.path.realpath(sys.executable)}\n".encode())
    for file in (LOCKS[wanted], ROOT / "pyproject.toml", Path(__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def done_file(wanted: str) -> Path:
    """Return the file with the fingerprint of a set; it exists only while the set is complete."""
    return VENV / f".headwater-{wanted}"


def is_installed(wanted: str) -> bool:
    done = done_file(wanted)
    return (
        PYTHON.exists()
        and done.exists()
        and not UNFINISHED.exists()
        and done.read_text() == fingerprint(wanted)
    )


def check_machine() -> None:
    """Stop with a hint if Python or Java is missing or unusable."""
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        sys.exit(NO_VENV.format(python=sys.executable))
    # The package's own __init__ needs packages that are not installed yet; these two modules need
    # none.
    package = types.ModuleType("headwater")
    package.__path__ = [str(ROOT / "headwater")]
    sys.modules["headwater"] = package
    errors = importlib.import_module("headwater.errors")
    java = importlib.import_module("headwater.local.java")
    try:
        found = java.find_java()
    except errors.JavaError as error:
        sys.exit(f"{error.message}\n  {error.hint}")
    print_line(
        f"Python {sys.version.split()[0]} at {sys.executable}, Java {found.version} at "
        f"{found.program}"
    )


def install(wanted: str) -> None:
    if UNFINISHED.exists() or not PYTHON.exists():
        make_venv()
    UNFINISHED.touch()
    lock, done = LOCKS[wanted], done_file(wanted)
    done.unlink(missing_ok=True)
    pip = (str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    must(*pip, "--require-hashes", "--only-binary=:all:", "-r", uv_alone(lock))
    # A lock is complete, so no metadata of a package adds to it.
    uv = (str(VENV / "bin" / "uv"), "pip", "install", "--python", str(PYTHON), "--no-deps")
    print_line(f"installing the files of {lock.name}")
    # Compiled once here, not at each start of each program.
    must(*uv, "--compile-bytecode", "--require-hashes", "-r", str(lock))
    must(*uv, "--quiet", "--no-build-isolation", "--editable", str(ROOT))
    fresh = done.with_suffix(".new")
    fresh.write_text(fingerprint(wanted))
    fresh.replace(done)
    UNFINISHED.unlink()


def make_venv() -> None:
    print_line("creating .venv")
    # The Python of the folder is removed first and created last, so a partial folder never looks
    # complete.
    PYTHON.unlink(missing_ok=True)
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    UNFINISHED.touch()
    must(sys.executable, "-m", "venv", str(VENV))


def uv_alone(lock: Path) -> str:
    """Write uv's own lines of a lock to a file: pip installs uv, and uv installs the rest."""
    lines = lock.read_text().splitlines()
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
            f"The setup stopped: {Path(command[0]).name} failed. Once that is resolved, run the "
            f"same command again."
        )


def run(*command: str, stdout: int | None = None) -> int:
    # An active virtual environment must not be the target of the installation.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"VIRTUAL_ENV", "PYTHONPATH"}
    }
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=stdout, check=False).returncode


def print_line(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] not in ([DEMO], [DEVELOPMENT]):
        sys.exit(f"usage: python scripts/setup.py {DEMO}|{DEVELOPMENT}")
    try:
        status = main(sys.argv[1])
        for left_over in VENV.glob(".uv-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        sys.exit(status)
    except KeyboardInterrupt:
        sys.exit(130)
