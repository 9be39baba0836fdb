"""The facts of policies on a small estate: who reads what, where data comes from, how old it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.governance.policies.facts import EVERYTHING, FactsRequest, read_facts
from headwater.governance.policies.models import Change, Subject
from headwater.governance.policies.variables import VARIABLES
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn, dataset_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event, job_event, run_event
from tests.run_builders import Event, answer, ds, job, write_events

pytestmark = pytest.mark.neo4j
# Minute 0 of the events is midnight on 1 January 2026.
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WEB = dataset_urn("web", "clicks")


def tags(*texts: str) -> Event:
    pairs = [text.partition("=")[::2] for text in texts]
    return {"tags": {"tags": [{"key": key, "value": value or "true"} for key, value in pairs]}}


def owned(*names: str) -> Event:
    return {"ownership": {"owners": [{"name": name} for name in names]}}


@pytest.fixture(scope="module")
def estate(database: Database, view: GraphView, graph_driver: Driver) -> Iterator[GraphView]:
    """raw -> load -> orders -> build -> mart -> answer; orders is read by a test too.

    web/clicks -> join -> wide, with orders.
    """
    del graph_driver
    empty(database)
    clicks: Event = {"namespace": "web", "name": "clicks"}
    columns = {"schema": {"fields": [{"name": "id", "type": "int"}, {"name": "mail"}]}}
    mail = {"tags": {"tags": [{"key": "pii", "value": "email", "field": "mail"}]}}
    write_events(
        database,
        [
            dataset_event("raw", 0, tags("deprecated", "region=eu")),
            dataset_event(
                "orders",
                0,
                {
                    **columns,
                    **owned("team:sales"),
                    "documentation": {"description": " Orders of the shop "},
                    "tags": {
                        "tags": [*tags("retention=30d")["tags"]["tags"], *mail["tags"]["tags"]]
                    },
                },
            ),
            dataset_event("mart", 0, tags("certified")),
            run_event("r1", minute=10, job="load", inputs=["raw"], outputs=["orders"]),
            run_event("r2", minute=20, job="build", inputs=["orders"], outputs=["mart"]),
            run_event("r3", minute=30, job="smoke", inputs=["orders"]),
            run_event("r4", minute=40, job="join", inputs=["orders", clicks], outputs=["wide"]),
            run_event("r5", minute=60, job="load", inputs=["raw"], outputs=["orders"]),
            job_event("smoke", 31, inputs=["orders"], facets=tags("test")),
        ],
        answer("revenue", "mart", minute=50, owners=["cfo"]),
    )
    yield view
    empty(database)


def values(view: GraphView, urn: str, **options: Any) -> dict[str, Any]:
    return dict(read_facts(view, [urn], NOON, **options)[urn].values)


def urns(datasets: list[dict[str, Any]]) -> list[str]:
    return [one["urn"] for one in datasets]


def test_the_node_itself(estate: GraphView) -> None:
    found = values(estate, ds("orders"))
    shown = {name: value for name, value in found.items() if name.startswith("node.")}
    # The newest version is of minute 60, the oldest of minute 10.
    assert shown == {
        "node.urn": ds("orders"),
        "node.kind": "dataset",
        "node.namespace": "db",
        "node.name": "orders",
        "node.type": "",
        "node.tags": ["retention=30d"],
        "node.owners": ["team:sales"],
        "node.description": "Orders of the shop",
        "node.certified": False,
        "node.critical": False,
        "node.deprecated": False,
        "node.dropped": False,
        "node.region": "",
        "node.purpose": "",
        "node.retentionDays": 30,
        "node.created": datetime(2026, 1, 1, tzinfo=UTC),
        "node.updated": datetime(2026, 1, 1, 1, tzinfo=UTC),
        "node.ageSeconds": 11 * 3600,
        "node.oldestSeconds": 11 * 3600 + 50 * 60,
        "node.columns": [
            {"name": "id", "type": "int", "tags": []},
            {"name": "mail", "type": "", "tags": ["pii=email"]},
        ],
    }


def test_consumers_without_tests(estate: GraphView) -> None:
    found = values(estate, ds("orders"))
    assert found["consumers.jobs"] == [job("build"), job("join")]
    assert found["consumers.answers"] == []
    assert found["consumers.active"] == 2
    assert found["consumers.critical"] == 0
    by_setting = FactsRequest(test_consumers=("jo*",))
    assert values(estate, ds("orders"), request=by_setting)["consumers.jobs"] == [job("build")]


def test_a_consumer_at_rest_is_not_active(estate: GraphView) -> None:
    later = NOON + timedelta(days=91)
    found = read_facts(estate, [ds("orders")], later)[ds("orders")].values
    assert found["consumers.jobs"] == [job("build"), job("join")]
    assert found["consumers.active"] == 0


def test_answers_consume_datasets_and_jobs_have_consumers(estate: GraphView) -> None:
    mart = values(estate, ds("mart"))
    assert mart["consumers.answers"] == [answer_urn("revenue")]
    assert (mart["consumers.active"], mart["consumers.critical"]) == (1, 1)
    assert values(estate, job("load"))["consumers.jobs"] == [job("build"), job("join")]


def test_upstream(estate: GraphView) -> None:
    found = values(estate, ds("wide"))
    assert urns(found["upstream.inputs"]) == [ds("orders"), WEB]
    assert urns(found["upstream.datasets"]) == [ds("orders"), ds("raw"), WEB]
    assert urns(found["upstream.sources"]) == [ds("raw"), WEB]
    assert found["upstream.uncertified"] == [ds("orders"), WEB]
    assert found["upstream.deprecated"] == [ds("raw")]
    orders, _, _ = found["upstream.datasets"]
    assert orders["ageSeconds"] == 11 * 3600
    # Nobody said when the source was captured.
    assert "ageSeconds" not in found["upstream.sources"][0]
    assert found["upstream.sources"][0]["region"] == "eu"


def test_upstream_of_jobs_answers_and_sources(estate: GraphView) -> None:
    assert urns(values(estate, job("join"))["upstream.inputs"]) == [ds("orders"), WEB]
    assert urns(values(estate, job("join"))["upstream.sources"]) == [ds("raw"), WEB]
    revenue = values(estate, answer_urn("revenue"))
    assert urns(revenue["upstream.inputs"]) == [ds("mart")]
    assert urns(revenue["upstream.datasets"]) == [ds("mart"), ds("orders"), ds("raw")]
    assert urns(revenue["upstream.sources"]) == [ds("raw")]
    raw = values(estate, ds("raw"))
    assert urns(raw["upstream.inputs"]) == []
    assert urns(raw["upstream.sources"]) == [ds("raw")]


def test_downstream(estate: GraphView) -> None:
    found = values(estate, ds("raw"))
    # load, orders, build, mart, smoke, join, wide, revenue
    assert found["downstream.nodes"] == 8
    assert found["downstream.answers"] == 1
    assert found["downstream.certified"] == 1
    assert found["downstream.critical"] == 2


def test_a_write_adds_the_inputs_of_the_job(estate: GraphView) -> None:
    change = Change("write", job=job("load"))
    facts = read_facts(estate, [ds("mart")], NOON, change)[ds("mart")]
    assert urns(facts.values["upstream.inputs"]) == [ds("orders"), ds("raw")]
    assert facts.subjects == {Subject.RUN, Subject.FLOW}
    assert facts.values["change.action"] == "write"


def test_the_lineage_of_an_earlier_instant(estate: GraphView) -> None:
    early = datetime(2026, 1, 1, 0, 15, tzinfo=UTC)
    found = read_facts(estate, [ds("orders")], early, request=FactsRequest(past=True))
    orders = found[ds("orders")].values
    assert orders["consumers.jobs"] == []
    assert orders["node.ageSeconds"] == 5 * 60


def test_a_hidden_node_is_a_stub_and_counts(estate: GraphView) -> None:
    found = values(estate.visible_to(Visibility(("db", "etl"))), ds("wide"))
    orders, stub = found["upstream.inputs"]
    assert orders["urn"] == ds("orders")
    assert list(stub) == ["urn"]
    assert stub["urn"].startswith("hidden:")
    assert "upstream.uncertified" not in found
    assert "upstream.deprecated" not in found
    # The jobs are hidden: that somebody reads it is all that is known.
    readers = values(estate.visible_to(Visibility(("db",))), ds("orders"))
    assert readers["consumers.active"] == 1
    assert readers["consumers.activeUrns"][0].startswith("hidden:")


def test_personal_data_is_unknown_below_a_hidden_node(estate: GraphView) -> None:
    """A class of it would tell what its owner tagged, and no class would be a permission."""
    request = FactsRequest(needs=("personalData.unmasked",))
    ours = estate.visible_to(Visibility(("db", "etl")))
    found = {
        (view, name): values(view, ds(name), request=request).get("personalData.unmasked")
        for view in (estate, ours)
        for name in ("orders", "wide")
    }
    assert found == {
        (estate, "orders"): ["email"],
        (estate, "wide"): [],
        (ours, "orders"): ["email"],
        (ours, "wide"): None,
    }


def test_unknown_and_hidden_nodes_have_no_facts(estate: GraphView) -> None:
    assert read_facts(estate, [ds("no"), "answer:no", WEB], NOON).keys() == {WEB}
    assert read_facts(estate.visible_to(Visibility(("db",))), [WEB], NOON) == {}


def test_only_what_is_needed_is_read(estate: GraphView) -> None:
    found = values(estate, ds("orders"), request=FactsRequest(needs=("node.owners",)))
    assert found["node.owners"] == ["team:sales"]
    assert not any(name.startswith(("upstream.", "consumers.", "downstream.")) for name in found)


def test_each_variable_is_documented_and_each_documented_one_is_read(estate: GraphView) -> None:
    found = values(estate, ds("orders"), request=EVERYTHING)
    assert set(found) <= set(VARIABLES)
    missing = {name for name in VARIABLES if name not in found}
    # These come from the evaluation, and from personal data.
    assert missing - {"personalData.unmasked"} == {"instant", "approved", "approvers"}
