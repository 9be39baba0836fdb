"""The search for a Java that runs both Neo4j and Spark.

It tries JAVA_HOME, then PATH, then the usual folders, and runs `java -version` in each. The first
Java 17 or 21 is used. Newer versions run Neo4j but not Spark, and one Java serves both. Nothing is
installed or changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import JavaError

VERSIONS = (17, 21)
VERSION_SECONDS_MAX = 20.0

USUAL_FOLDERS = (
    ("/usr/lib/jvm", "*/bin/java"),
    ("/usr/java", "*/bin/java"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home/bin/java"),
    ("/opt/homebrew/opt", "openjdk@*/bin/java"),
    ("/usr/local/opt", "openjdk@*/bin/java"),
    ("~/.sdkman/candidates/java", "*/bin/java"),
)

INSTALL_HINT = (
    "Install Java 17, or point JAVA_HOME at one. "
    "Debian and Ubuntu: apt install openjdk-17-jre-headless. "
    "macOS: brew install openjdk@17. "
    "Fedora: dnf install java-21-openjdk-headless."
)


@dataclass(frozen=True)
class Java:
    """A Java program and its major version."""

    program: Path
    version: int

    @property
    def home(self) -> Path:
        """Return the folder for JAVA_HOME, which Spark's scripts read."""
        return self.program.resolve().parent.parent


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """Find a Java 17 or 21.

    Args:
        environ: The environment with JAVA_HOME and PATH; None is that of this process.

    Returns:
        The first one found.

    Raises:
        JavaError: There is none.
    """
    versions: dict[Path, int | None] = {}
    for program in _candidates(os.environ if environ is None else environ):
        real = program.resolve()
        if real in versions:
            continue
        versions[real] = java_version(program)
        if versions[real] in VERSIONS:
            return Java(program, versions[real] or 0)
    unusable = sorted({version for version in versions.values() if version})
    note = f" (found only version {', '.join(map(str, unusable))})" if unusable else ""
    raise JavaError(f"this machine has no Java 17 or 21{note}", hint=INSTALL_HINT)


def java_version(program: Path) -> int | None:
    """Return the major version of a Java.

    Args:
        program: The path of `java`.

    Returns:
        The version; None if the program does not work (macOS ships a stub that only fails).
    """
    try:
        shown = subprocess.run(
            [str(program), "-version"],
            capture_output=True,
            text=True,
            timeout=VERSION_SECONDS_MAX,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(shown.stderr + shown.stdout) if shown.returncode == 0 else None


def parse_version(text: str) -> int | None:
    """Parse the major version from the output of `java -version`.

    Args:
        text: The output: `version "17.0.15"` is 17; before Java 9, `version "1.8.0_392"` is 8.

    Returns:
        The version; None if the text has none.
    """
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield Path(on_path)
    for folder, pattern in USUAL_FOLDERS:
        yield from sorted(Path(folder).expanduser().glob(pattern))
