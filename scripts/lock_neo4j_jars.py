"""Write headwater/local/neo4j.lock: every jar a Neo4j server needs, with its sha256 and size.

Run by hand when Neo4j's version changes:  python scripts/lock_neo4j_jars.py 5.26.30
Maven resolves the tree in an empty temporary repository, so that nothing local leaks into the lock.
Nothing else in Headwater needs Maven.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

roots = ("neo4j", "neo4j-bolt")
lock = Path(__file__).parent.parent / "headwater" / "local" / "neo4j.lock"
head = """\
# The jars of a Neo4j {version} server. Made by scripts/lock_neo4j_jars.py; not for editing by hand.
# neo4j {version}
# group:artifact:version[:classifier] sha256 bytes
"""


def pom(version: str) -> str:
    wanted = "".join(
        f"<dependency><groupId>org.neo4j</groupId><artifactId>{root}</artifactId>"
        f"<version>{version}</version></dependency>"
        for root in roots
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>headwater</groupId><artifactId>lock</artifactId><version>1</version>"
        f"<dependencies>{wanted}</dependencies></project>"
    )


def maven(folder: Path, goal: str, *options: str) -> None:
    command = ["mvn", "-q", "-B", f"-Dmaven.repo.local={folder}/repository", f"dependency:{goal}"]
    subprocess.run([*command, "-DincludeScope=runtime", *options], cwd=folder, check=True)


def lock_line(coordinates: str, jars: Path) -> str:
    """Maven prints group:artifact:jar[:classifier]:version:scope."""
    group, artifact, _, *classifier, version, _ = coordinates.split(":")
    content = (jars / ("-".join([artifact, version, *classifier]) + ".jar")).read_bytes()
    name = ":".join([group, artifact, version, *classifier])
    return f"{name} {hashlib.sha256(content).hexdigest()} {len(content)}\n"


def main(version: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pom.xml").write_text(pom(version))
        maven(folder, "copy-dependencies", f"-DoutputDirectory={folder}/jars")
        maven(folder, "list", f"-DoutputFile={folder}/list")
        found = re.findall(r"^ +([\w.-]+:[^\s]+)", (folder / "list").read_text(), re.MULTILINE)
        lines = sorted(lock_line(coordinates, folder / "jars") for coordinates in found)
        if len(lines) != len(list((folder / "jars").iterdir())):
            raise SystemExit("Maven listed other jars than it copied.")
    lock.write_text(head.format(version=version) + "".join(lines))
    print(f"{len(lines)} jars in {lock.name}")


if __name__ == "__main__":
    main(sys.argv[1])
