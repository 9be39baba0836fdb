"""Large lineage graphs, written as bare nodes and edges: the fold would take minutes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database
from tests.run_builders import ds, job

ROWS = 10_000
SEEN = "firstSeen: datetime('2026-01-01T00:00:00Z'), lastSeen: datetime('2026-02-01T00:00:00Z')"
NODES = "UNWIND $rows AS row CREATE (n:$($label)) SET n = row"
FEEDS = f"""
UNWIND $rows AS row MATCH (d:Dataset {{urn: row[0]}}), (j:Job {{urn: row[1]}})
CREATE (d)-[:FEEDS {{current: true, {SEEN}}}]->(j)
"""
PRODUCED = f"""
UNWIND $rows AS row MATCH (j:Job {{urn: row[0]}}), (d:Dataset {{urn: row[1]}})
CREATE (j)-[:PRODUCED {{current: true, fromAllInputs: true, {SEEN}}}]->(d)
"""


class JobShape(NamedTuple):
    """A job with the names of what it reads and writes."""

    name: str
    inputs: list[str]
    outputs: list[str]


def datasets_of(jobs: Sequence[JobShape]) -> list[str]:
    """Return the names of all datasets of jobs, each once."""
    return sorted({name for shape in jobs for name in chain(shape.inputs, shape.outputs)})


def write_shapes(database: Database, jobs: Sequence[JobShape]) -> None:
    """Write jobs with their datasets and edges into an empty graph."""
    _write(database, NODES, [_node("etl", shape.name, job) for shape in jobs], label="Job")
    datasets = [_node("db", name, ds) for name in datasets_of(jobs)]
    _write(database, NODES, datasets, label="Dataset")
    fed = [[ds(name), job(shape.name)] for shape in jobs for name in sorted(set(shape.inputs))]
    _write(database, FEEDS, fed)
    made = [[job(shape.name), ds(name)] for shape in jobs for name in shape.outputs]
    _write(database, PRODUCED, made)


def _node(namespace: str, name: str, urn_of: Any) -> dict[str, str]:
    return {"urn": urn_of(name), "namespace": namespace, "name": name}


def _write(database: Database, text: str, rows: list[Any], **parameters: Any) -> None:
    for piece in chunks(rows, ROWS):
        with database._transaction("WRITE", 120.0) as transaction:
            transaction.run(text, rows=piece, **parameters).consume()
