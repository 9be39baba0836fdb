"""Affected assets on the real graph: merged over changes, and without hidden nodes."""

from __future__ import annotations

import time

import pytest
from neo4j import Driver

from headwater.code_analysis.model import References
from headwater.cypher.driver.database import Database
from headwater.impact.assets import AffectedAssets
from headwater.impact.model import Consumer, DependencyModel, Effect, PropagatedChange, Table
from headwater.impact.propagate import propagate
from headwater.impact.report import Evidence, Report
from headwater.lineage.nodes import read_nodes
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.conftest import erase
from tests.event_builders import dataset, run_event, schema, write_batch
from tests.run_builders import ds, job

pytestmark = pytest.mark.neo4j
SECRET = "dataset:secret:out"


@pytest.fixture(scope="module")
def shop(database: Database, view: GraphView, graph_driver: Driver) -> GraphView:
    with graph_driver.session() as session:
        session.run(erase).consume()
    owned = {
        "ownership": {"owners": [{"name": "team:a"}]},
        "tags": {"tags": [{"key": "canonical"}]},
    }
    outputs = [dataset("o", owned), dataset("out", namespace="secret")]
    event = run_event("r1", inputs=[dataset("t", schema(x="int"))], outputs=outputs, job="j")
    write_batch(database, [event])
    return view


def report(view: GraphView, *effects: Effect) -> Report:
    """Return the report of one change of t.x an effect; job j makes o and a secret dataset."""
    table = Table(ds("t"), "t", ("x",))
    reader = Consumer(
        job("j"), "JOB", {ds("o"): None, SECRET: None}, lambda: References(unknown=("a reason",))
    )
    model = DependencyModel({table.urn: table}, {table.urn: [reader]}, lambda _: {})
    assets = AffectedAssets(view, read_nodes(view, [job("j"), ds("o")]), model)
    for effect in effects:
        start = PropagatedChange(table.urn, "x", effect, path=(table.column_urn("x"),))
        assets.add_result(propagate(model, [start], time.monotonic() + 20))
    return assets.report(truncated="", notes=[])


def test_a_job_is_one_asset_with_its_outputs(shop: GraphView) -> None:
    (one,) = report(shop, "gone", "widened").affected
    assert (one.urn, one.name, one.kind, one.severity) == (job("j"), "j", "JOB", "unknown")
    assert one.outputs == (ds("o"), SECRET)
    # Owners and tags of its outputs are its own.
    assert (one.owners, one.certified) == (("team:a",), True)
    assert one.references == ("x",)
    assert one.evidence == (Evidence("READS_ONLY", (ds("t"), job("j")), unknown=("a reason",)),)


def test_hidden_outputs_are_not_named(shop: GraphView) -> None:
    (one,) = report(shop.visible_to(Visibility(("db", "etl"))), "gone").affected
    assert one.outputs == (ds("o"),)


def test_a_hidden_asset_is_not_named(shop: GraphView) -> None:
    found = report(shop.visible_to(Visibility(("db",))), "gone")
    assert (found.affected, found.hidden_affected) == ([], True)
