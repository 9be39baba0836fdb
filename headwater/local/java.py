"""Find a Java that Neo4j and Spark both run on.

Looks at JAVA_HOME, then at PATH, then where systems usually put Java, and asks each `java -version`.
Promises: the first Java of an accepted version is returned, and nothing is installed or changed.
Refuses: versions other than 17 and 21. Newer ones run Neo4j but not Spark, and one Java serves both.
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

versions_accepted = (17, 21)
version_seconds_max = 20.0

usual_places = (
    ("/usr/lib/jvm", "*/bin/java"),
    ("/usr/java", "*/bin/java"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home/bin/java"),
    ("/opt/homebrew/opt", "openjdk@*/bin/java"),
    ("/usr/local/opt", "openjdk@*/bin/java"),
    ("~/.sdkman/candidates/java", "*/bin/java"),
)

how_to_install = (
    "Install Java 17, or point JAVA_HOME at one. "
    "Debian and Ubuntu: apt install openjdk-17-jre-headless. "
    "macOS: brew install openjdk@17. "
    "Fedora: dnf install java-21-openjdk-headless."
)


@dataclass(frozen=True)
class Java:
    program: Path
    version: int

    @property
    def home(self) -> Path:
        """What JAVA_HOME would be; Spark's own scripts read that variable."""
        return self.program.resolve().parent.parent


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    seen: dict[Path, int | None] = {}
    for program in _candidates(os.environ if environ is None else environ):
        real = program.resolve()
        if real in seen:
            continue
        seen[real] = java_version(program)
        if seen[real] in versions_accepted:
            return Java(program, seen[real] or 0)
    found = sorted({version for version in seen.values() if version})
    others = f" (found only version {', '.join(map(str, found))})" if found else ""
    raise JavaError(f"No Java 17 or 21 on this machine{others}.", hint=how_to_install)


def java_version(program: Path) -> int | None:
    """The major version, or None when this is no working Java (macOS ships a stub that only complains)."""
    try:
        said = subprocess.run(
            [str(program), "-version"],
            capture_output=True,
            text=True,
            timeout=version_seconds_max,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(said.stderr + said.stdout) if said.returncode == 0 else None


def parse_version(text: str) -> int | None:
    """`version "17.0.15"` is 17; before Java 9 the number stood second: `version "1.8.0_392"` is 8."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield Path(on_path)
    for folder, pattern in usual_places:
        yield from sorted(Path(folder).expanduser().glob(pattern))
