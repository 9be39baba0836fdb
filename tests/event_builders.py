"""OpenLineage events as producers send them, and `write_in_any_order`, which writes them.

`tests.run_builders` builds whole runs in one line. Here each event and facet is separate, for
scenarios that depend on which event of a run has a facet.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from headwater.cypher.driver.database import Database, Row
from headwater.ingest.fold import fold
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.schema import headwater_facets as native
from headwater.schema.events import parse
from tests.canonical import canonical, edges, empty
from tests.run_builders import FACET, SPOOL, Event, at


def facet(**fields: Any) -> Event:
    return {**FACET, **fields}


def dataset(
    name: str,
    facets: Event | None = None,
    *,
    usage: Event | None = None,
    side: str = "output",
    namespace: str = "db",
) -> Event:
    """Return a dataset of an event; `usage` has its input or output facets, by `side`."""
    named: Event = {"namespace": namespace, "name": name}
    if facets:
        named["facets"] = {key: {**FACET, **value} for key, value in facets.items()}
    if usage:
        named[f"{side}Facets"] = {key: {**FACET, **value} for key, value in usage.items()}
    return named


def run_event(
    run_id: str,
    state: str | None = "COMPLETE",
    minute: int = 0,
    *,
    job: str = "j",
    inputs: Sequence[str | Event] = (),
    outputs: Sequence[str | Event] = (),
    facets: Event | None = None,
    job_facets: Event | None = None,
) -> Event:
    event: Event = {
        "eventTime": at(minute),
        "producer": FACET["_producer"],
        "run": {
            "runId": run_id,
            "facets": {key: {**FACET, **value} for key, value in (facets or {}).items()},
        },
        "job": {"namespace": "etl", "name": job, "facets": _facets(job_facets)},
        "inputs": _datasets(inputs),
        "outputs": _datasets(outputs),
    }
    return event if state is None else {**event, "eventType": state}


def job_event(
    job: str,
    minute: int = 0,
    *,
    inputs: Sequence[str | Event] = (),
    outputs: Sequence[str | Event] = (),
    facets: Event | None = None,
) -> Event:
    return {
        "eventTime": at(minute),
        "producer": FACET["_producer"],
        "job": {"namespace": "etl", "name": job, "facets": _facets(facets)},
        "inputs": _datasets(inputs),
        "outputs": _datasets(outputs),
    }


def dataset_event(
    name: str, minute: int = 0, facets: Event | None = None, *, namespace: str = "db"
) -> Event:
    about = dataset(name, facets, namespace=namespace)
    return {"eventTime": at(minute), "producer": FACET["_producer"], "dataset": about}


def _datasets(datasets: Sequence[str | Event]) -> list[Event]:
    return [dataset(item) if isinstance(item, str) else item for item in datasets]


def _facets(facets: Event | None) -> Event:
    return {key: {**FACET, **value} for key, value in (facets or {}).items()}


def deleted(facet: str) -> Event:
    return {facet: {"_deleted": True}}


def parent(run_id: str, job: str, root: tuple[str, str] | None = None) -> Event:
    """Return the parent facet of the specification; `root` is a run and its job."""
    above: Event = {"run": {"runId": run_id}, "job": {"namespace": "etl", "name": job}}
    if root is not None:
        above["root"] = {"run": {"runId": root[0]}, "job": {"namespace": "etl", "name": root[1]}}
    return {"parent": above}


def symlinks(*names: str, namespace: str = "db") -> Event:
    identifiers = [{"namespace": namespace, "name": name, "type": "TABLE"} for name in names]
    return {"symlinks": {"identifiers": identifiers}}


def by_hand(name: str, minute: int = 30, **verdicts: str) -> Event:
    """Return the decision of a steward; each keyword is `same` or `apart` with another name."""
    decisions: dict[str, Any] = {
        verdict: [{"namespace": "db", "name": alias}] for verdict, alias in verdicts.items()
    }
    return native.symlinks_event(
        {"namespace": "db", "name": name}, event_time=at(minute), **decisions
    )


def schema(**types: str) -> Event:
    return {"schema": {"fields": [{"name": name, "type": type} for name, type in types.items()]}}


def columns(**sources: Sequence[tuple[str, str]]) -> Event:
    """Return column lineage; each keyword is an output field with its [(dataset, field), ...]."""
    fields: Event = {}
    for target, pairs in sources.items():
        inputs = [{"namespace": "db", "name": name, "field": field} for name, field in pairs]
        fields[target] = {"inputFields": inputs}
    return {"columnLineage": {"fields": fields}}


def source(name: str, **more: str) -> Event:
    """Return a dataset as the source of a lineage facet."""
    return {"namespace": "db", "name": name, "type": "DATASET", **more}


def source_job(name: str, **more: str) -> Event:
    return {"namespace": "etl", "name": name, "type": "JOB", **more}


def write_in_any_order(database: Database, *events: Event) -> None:
    """Write these events in several orders, and assert that the graph is the same.

    The orders are: together, one by one backwards, and in shuffled pairs with repeated events. The
    writer uses a cache. The graph stays as the last order makes it.
    """
    twice = [*events, *events[::2]]
    random.Random(len(twice)).shuffle(twice)
    orders: list[list[Sequence[Event]]] = [
        [events],
        [[event] for event in reversed(events)],
        [twice[start : start + 2] for start in range(0, len(twice), 2)],
    ]
    graphs = []
    for batches in orders:
        empty(database)
        cache = WriteCache()
        for batch in batches:
            write_batch(database, batch, cache, defer=True)
        write_batch(database, [], cache)
        graphs.append(canonical(database))
    for number, graph in enumerate(graphs[1:], start=1):
        for kind, expected, actual in zip(("nodes", "edges"), graphs[0], graph, strict=True):
            missing = sorted(set(expected) - set(actual))
            extra = sorted(set(actual) - set(expected))
            assert (missing, extra) == ([], []), f"order {number}: {kind}"
        assert graph == graphs[0]


def write_batch(
    database: Database,
    batch: Sequence[Event],
    cache: WriteCache | None = None,
    *,
    defer: bool = False,
) -> None:
    """Fold one batch into the graph; with `defer`, last-seen updates may stay in the cache."""
    before = read_checkpoint(database, SPOOL)
    after = Checkpoint(before.position + len(batch), before.folded + len(batch), 0)
    delta = fold(parse(json.dumps(event).encode(), received=0) for event in batch)
    write(
        database,
        WriteRequest(
            delta,
            spool=SPOOL,
            before=before,
            after=after,
            holder="tests",
            defer_before=0 if defer else None,
        ),
        cache=cache,
    )


def node(database: Database, urn: str) -> Row:
    """Return the properties of the one node of this URN; absent ones are None."""
    (row,) = database.ask("MATCH (n {urn: $urn}) RETURN properties(n) AS p", {"urn": urn})
    return Properties(row["p"])


class Properties(dict[str, Any]):
    """Properties of a node or an edge; an absent one is None, as in Cypher."""

    def __missing__(self, key: str) -> None:
        return None


def edge(database: Database, source: str, type: str, target: str) -> Row:
    """Return the properties of the one edge of this type between two nodes."""
    text = "MATCH (a {urn: $a})-[e]->(b {urn: $b}) WHERE type(e) = $type RETURN properties(e) AS p"
    (row,) = database.ask(text, {"a": source, "b": target, "type": type})
    return Properties(row["p"])


def urns(database: Database, label: str) -> set[str]:
    text = "MATCH (n) WHERE $label IN labels(n) RETURN n.urn AS urn"
    return {row["urn"] for row in database.ask(text, {"label": label})}


def current(database: Database) -> set[tuple[str, str, str]]:
    """Return the current edges of the lineage graph."""
    text = (
        "MATCH (a)-[e:FEEDS|PRODUCED]->(b) WHERE e.current RETURN a.urn AS a, type(e) AS "
        "t, b.urn AS b"
    )
    return {(row["a"], row["t"], row["b"]) for row in database.ask(text, {})}


def read_by(database: Database, urn: str) -> set[str]:
    """Return the URNs that a run read or that an answer cites."""
    return {source for source, _, target in edges(database, "FEEDS", "CITED_BY") if target == urn}
