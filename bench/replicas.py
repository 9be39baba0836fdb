"""Create very many runs from one: read the writer's nodes of a run once, create copies with other
ids and times.

A transaction creates thousands. A replica differs from its pattern by its number and its start, as
two runs of one job do that read the same versions. The tests compare it with the real writer's
result for the same events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import neo4j

from bench.events import run_id
from headwater.schema.facts_codec import pack_json, unpack_json

# Replica numbers are the pattern's number plus a multiple of this, so they keep the pattern's row
# count.
NUMBERS = 1_000_000
_MICROSECONDS = re.compile(r"(?<!\d)(\d{16})(?!\d)")
_RUN = "\0run\0"
_READ = """
MATCH (r:PipelineRun {runId: $run})-[:RUN_OF]->(j:Job)
MATCH (r)-[p:PRODUCED]->(a:Artifact)-[:VERSION_OF]->(d:Dataset),
  (a)-[:HAS_SCHEMA]->(s:SchemaVersion)
RETURN properties(r) AS run, properties(a) AS artifact, properties(p) AS produced,
  elementId(j) AS job, elementId(d) AS dataset, elementId(s) AS schema,
  COLLECT { MATCH (v)-[e:FEEDS]->(r) RETURN elementId(v) } AS inputs,
  COLLECT { MATCH (a)-[e:DERIVED_FROM]->(v) RETURN elementId(v) } AS derived,
  COUNT { (r)--() } + COUNT { (a)--() } AS edges,
  COUNT { (r)-[e:FEEDS]-() WHERE size(keys(e)) > 0 } AS withProperties
"""
_WRITE = """
MATCH (j), (d), (s)
WHERE elementId(j) = $job AND elementId(d) = $dataset AND elementId(s) = $schema
WITH j, d, s, COLLECT { MATCH (v) WHERE elementId(v) IN $inputs RETURN v } AS inputs,
  COLLECT { MATCH (v) WHERE elementId(v) IN $derived RETURN v } AS derived
UNWIND $rows AS row
CREATE (j)<-[:RUN_OF]-(r:PipelineRun)-[p:PRODUCED]->(a:Artifact)-[:VERSION_OF]->(d),
  (a)-[:HAS_SCHEMA]->(s)
SET r = $run, r += row.run, a = $artifact, a += row.artifact, p = $produced
FOREACH (v IN inputs | CREATE (v)-[:FEEDS]->(r))
FOREACH (v IN derived | CREATE (a)-[:DERIVED_FROM]->(v))
"""


@dataclass(frozen=True)
class Text:
    """A property that contains the run id or microseconds since 1970, cut at these values."""

    parts: tuple[str | int, ...]
    # Whether it is packed like facts.
    is_packed: bool = False

    def filled(self, run: str, offset: int) -> str | bytes:
        text = "".join(
            run if part is _RUN else part if isinstance(part, str) else str(part + offset)
            for part in self.parts
        )
        return pack_json(text.encode()) if self.is_packed else text


@dataclass(frozen=True)
class Pattern:
    """A run of the writer: its properties, those of its version, and the nodes at both ends
    (`ends`).
    """

    number: int
    began: datetime
    run: dict[str, Any]
    artifact: dict[str, Any]
    produced: dict[str, Any]
    ends: dict[str, Any]

    def replica(self, index: int, began: datetime) -> dict[str, Any]:
        """Return the properties that one replica does not share: of its run and of its version."""
        run = run_id(number_of(self.number, index))
        offset = began - self.began
        return {
            "run": _filled(self.run, run, offset),
            "artifact": _filled(self.artifact, run, offset),
        }


def number_of(pattern: int, index: int) -> int:
    """Return the number of a replica; it is unique over all patterns while indexes differ."""
    return pattern + NUMBERS * (index + 1)


def read_pattern(session: neo4j.Session, number: int) -> Pattern:
    """Read the run of a number from the graph. Raise ValueError if the writer wrote an unknown
    property.
    """
    own = run_id(number)
    row = session.run(_READ, run=own).single(strict=True)
    expected = 3 + len(row["inputs"]) + 2 + len(row["derived"])
    if row["edges"] != expected or row["withProperties"]:
        raise ValueError(
            f"the run {own} has {row['edges']} edges, and {expected} are known: correct "
            f"bench/replicas.py"
        )
    run = {key: _cut(value, own) for key, value in row["run"].items()}
    ends = {key: row[key] for key in ("job", "dataset", "schema", "inputs", "derived")}
    artifact = {key: _cut(value, own) for key, value in row["artifact"].items()}
    return Pattern(number, run["startedAt"], run, artifact, dict(row["produced"]), ends)


def write_replicas(
    session: neo4j.Session, pattern: Pattern, begins: Iterable[tuple[int, datetime]]
) -> None:
    """Create the replicas of these indexes and instants, in one transaction."""
    rows = [pattern.replica(index, began) for index, began in begins]
    same = {
        "run": _same(pattern.run),
        "artifact": _same(pattern.artifact),
        "produced": pattern.produced,
    }
    session.run(_WRITE, rows=rows, **same, **pattern.ends).consume()


def _same(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the properties that all replicas share."""
    return {
        key: value for key, value in properties.items() if not isinstance(value, Text | datetime)
    }


def _cut(value: Any, run: str) -> Any:
    if isinstance(value, neo4j.time.DateTime):
        return value.to_native()
    if isinstance(value, bytes):
        return Text(_parts(unpack_json(value), run), is_packed=True)
    if not isinstance(value, str):
        return value
    parts = _parts(value, run)
    return Text(parts) if len(parts) > 1 else value


def _parts(value: str, run: str) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    for number, piece in enumerate(value.split(run)):
        parts += [_RUN] if number else []
        parts += [
            int(part) if odd % 2 else part for odd, part in enumerate(_MICROSECONDS.split(piece))
        ]
    return tuple(parts)


def _filled(properties: dict[str, Any], run: str, offset: timedelta) -> dict[str, Any]:
    """Return the properties that differ from replica to replica."""
    micros = offset // timedelta(microseconds=1)
    found: dict[str, Any] = {}
    for key, value in properties.items():
        if isinstance(value, Text):
            found[key] = value.filled(run, micros)
        elif isinstance(value, datetime):
            found[key] = value + offset
    return found
