"""Write headwater/local/SERVER.lock: every jar that a server needs, with its sha256 and size.

Run by hand when a server's version changes:  python scripts/lock_jars.py neo4j 5.26.30
                                              python scripts/lock_jars.py kafka 4.1.1
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

# What each server is made from; a jar without a version of its own has the server's.
roots = {
    "neo4j": ("org.neo4j:neo4j", "org.neo4j:neo4j-bolt"),
    # Kafka's own download brings the binding for its log; its pom does not.
    "kafka": ("org.apache.kafka:kafka_2.13", "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3"),
}
locks = Path(__file__).parent.parent / "headwater" / "local"
head = """\
# The jars of a {title} {version} server. Made by scripts/lock_jars.py; not for editing by hand.
# {server} {version}
# group:artifact:version[:classifier] sha256 bytes
"""


def dependency(root: str, version: str) -> str:
    group, artifact, *own = root.split(":")
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{own[0] if own else version}</version></dependency>"
    )


def pom(server: str, version: str) -> str:
    wanted = "".join(dependency(root, version) for root in roots[server])
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


def main(server: str, version: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pom.xml").write_text(pom(server, version))
        maven(folder, "copy-dependencies", f"-DoutputDirectory={folder}/jars")
        maven(folder, "list", f"-DoutputFile={folder}/list")
        found = re.findall(r"^ +([\w.-]+:[^\s]+)", (folder / "list").read_text(), re.MULTILINE)
        lines = sorted(lock_line(coordinates, folder / "jars") for coordinates in found)
        if len(lines) != len(list((folder / "jars").iterdir())):
            raise SystemExit("Maven listed other jars than it copied.")
    title = {"neo4j": "Neo4j", "kafka": "Kafka"}[server]
    (locks / f"{server}.lock").write_text(head.format(title=title, server=server, version=version) + "".join(lines))
    print(f"{len(lines)} jars in {server}.lock")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
