"""Write headwater/local/NAME.lock: every jar of a server or a Spark connector, with sha256 and
size.

Run it by hand when a version changes:

    python scripts/lock_jars.py neo4j 5.26.30
    python scripts/lock_jars.py cypher-shell 5.26.30
    python scripts/lock_jars.py kafka 4.1.1
    python scripts/lock_jars.py spark-kafka 4.1.3

Maven resolves the tree in an empty temporary repository, so no local file reaches the lock. Nothing
else in Headwater needs Maven.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The root artifacts of each server. A jar without a version of its own takes the requested version.
roots = {
    "neo4j": ("org.neo4j:neo4j", "org.neo4j:neo4j-bolt"),
    "cypher-shell": ("org.neo4j:cypher-shell",),
    # Kafka's own download includes the binding for its log; its pom does not.
    "kafka": ("org.apache.kafka:kafka_2.13", "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3"),
    # Only delegation tokens need its second half; this is the newest version of Spark 4.1 that
    # every mirror has.
    "spark-kafka": (
        "org.apache.spark:spark-sql-kafka-0-10_2.13",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    ),
}
titles = {
    "neo4j": "a Neo4j {} server",
    "cypher-shell": "Neo4j's shell {}",
    "kafka": "a Kafka {} server",
    "spark-kafka": "what lets Spark {} read Kafka",
}
locks = Path(__file__).parent.parent / "headwater" / "local"
head = """\
# The jars of {title}. Made by scripts/lock_jars.py; not for editing by hand.
# {name} {version}
# group:artifact:version[:classifier] sha256 bytes
"""


def dependency(root: str, version: str) -> str:
    group, artifact, *own = root.split(":")
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{own[0] if own else version}</version></dependency>"
    )


def pom(name: str, version: str) -> str:
    dependencies = "".join(dependency(root, version) for root in roots[name])
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>headwater</groupId><artifactId>lock</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies>"
        # This version wins over the one that a jar further down requires.
        f"<dependencyManagement><dependencies>{dependencies}</dependencies></dependencyManagement></project>"
    )


def maven(folder: Path, goal: str, *options: str) -> None:
    command = ["mvn", "-q", "-B", f"-Dmaven.repo.local={folder}/repository", f"dependency:{goal}"]
    subprocess.run([*command, "-DincludeScope=runtime", *options], cwd=folder, check=True)


def lock_line(coordinates: str, jars: Path) -> str:
    """Parse Maven's group:artifact:jar[:classifier]:version:scope into a line of the lock."""
    group, artifact, _, *classifier, version, _ = coordinates.split(":")
    content = (jars / ("-".join([artifact, version, *classifier]) + ".jar")).read_bytes()
    name = ":".join([group, artifact, version, *classifier])
    return f"{name} {hashlib.sha256(content).hexdigest()} {len(content)}\n"


def of_spark() -> set[str]:
    """Return the artifacts that pyspark includes; a connector must not add other versions of
    them.
    """
    import pyspark

    jars = Path(pyspark.__file__).parent.glob("jars/*.jar")
    return {re.sub(r"-\d[\w.-]*\.jar$", "", jar.name) for jar in jars}


def main(name: str, version: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "pom.xml").write_text(pom(name, version))
        maven(folder, "copy-dependencies", f"-DoutputDirectory={folder}/jars")
        maven(folder, "list", f"-DoutputFile={folder}/list")
        found = re.findall(r"^ +([\w.-]+:[^\s]+)", (folder / "list").read_text(), re.MULTILINE)
        if len(found) != len(list((folder / "jars").iterdir())):
            raise SystemExit("Maven listed other jars than it copied.")
        there = of_spark() if name.startswith("spark-") else set()
        missing = (coordinates for coordinates in found if coordinates.split(":")[1] not in there)
        lines = sorted(lock_line(coordinates, folder / "jars") for coordinates in missing)
    text = head.format(title=titles[name].format(version), name=name, version=version) + "".join(
        lines
    )
    (locks / f"{name}.lock").write_text(text)
    print(f"{len(lines)} jars in {name}.lock")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
