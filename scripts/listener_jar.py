"""Compile the Java sources of `headwater.spark_hooks` into its jar.

    python -m scripts.listener_jar

The jar is kept in the repository, so that an installation needs no compiler. The same sources and
a JDK 17 give the same bytes; a test compares them. The class path is pyspark and the OpenLineage
listener, which the first session of `configure` downloads.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from headwater.errors import JarError
from headwater.local.gateway import pyspark_jar
from headwater.local.java import find_java
from headwater.spark_hooks import listener

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "headwater" / "spark_hooks" / "java"
JDK = 17
# The oldest Java of a supported Spark: Spark 3.5 runs on Java 8.
RELEASE = 8


def openlineage_jar() -> Path:
    """Return the OpenLineage listener that Ivy downloaded. Raises JarError."""
    jar = listener.fetched(listener.coordinates("2.13"), None)
    if not jar.is_file():
        raise JarError(f"{jar} is missing", hint="Run `python examples/spark_job.py` once.")
    return jar


def spark_jars() -> str:
    """Return the class path of pyspark's own jars."""
    return str(pyspark_jar("spark-core_*.jar").parent / "*")


def build() -> bytes:
    """Return the jar: classes, resources and licence, in the order of their names."""
    java = find_java()
    if java.version != JDK:
        raise JarError(f"Java {java.version} compiles other bytes than Java {JDK}")
    command = [str(java.program.parent / "javac"), "--release", str(RELEASE), "-Xlint:-options"]
    sources = sorted(map(str, SOURCES.rglob("*.java")))
    with tempfile.TemporaryDirectory() as folder:
        command += ["-cp", os.pathsep.join([spark_jars(), str(openlineage_jar())]), "-d", folder]
        subprocess.run([*command, *sources], check=True)
        files = _files(Path(folder)) | _files(SOURCES)
    files = {name: content for name, content in files.items() if not name.endswith(".java")}
    files["META-INF/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    # A jar begins with its manifest.
    return _zipped({"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n", **files})


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip file without times, and without compression, which differs between libraries."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


if __name__ == "__main__":
    listener.jar_path().write_bytes(build())
    print(listener.jar_path(), file=sys.stderr)
