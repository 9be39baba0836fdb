"""The list of all namespaces."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.pagination import page_request
from headwater.lineage.questions.namespaces import find_namespace, namespaces
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.event_builders import dataset_event
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def test_namespaces_by_name_with_their_nodes(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("r", "build", ["a"], ["b"]),
        [dataset_event("page", 30, namespace="web"), dataset_event("site", 50, namespace="web")],
    )
    found = namespaces(view, page=page_request(2))
    shown = [(one.name, one.datasets, one.jobs) for one in found.page.entries]
    assert (shown, found.count, found.page.has_next) == ([("db", 2, 0), ("etl", 0, 1)], 3, True)
    [web] = namespaces(view, page=page_request(last=1)).page.entries
    assert (web.name, web.datasets, web.jobs) == ("web", 2, 0)
    assert web.first_seen is not None
    assert web.last_seen is not None
    assert (web.first_seen.minute, web.last_seen.minute) == (30, 50)
    assert find_namespace(view, "web") == web
    only_web = view.visible_to(Visibility(("web",)))
    assert [one.name for one in namespaces(only_web).page.entries] == ["web"]
    assert namespaces(only_web).count == 1
    assert find_namespace(only_web, "db") is None
    assert find_namespace(view, "nowhere") is None
