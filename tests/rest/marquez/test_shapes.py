"""Nodes in the shapes of Marquez, and the cost of a page."""

from __future__ import annotations

from typing import Any

import pytest
from marquez_client import MarquezClient  # type: ignore[import-untyped]
from marquez_client.errors import APIError  # type: ignore[import-untyped]
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.schema.urns import artifact_urn, guid_of
from tests.rest.marquez.run_history import BUCKET, FIRST, get_json
from tests.run_builders import at

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("folded")]


def test_all_fields_of_a_dataset(marquez: MarquezClient) -> None:
    found = marquez.get_dataset("db", "orders")
    facets = found.pop("facets")
    assert set(facets) == {"columnLineage", "dataSource", "documentation", "schema", "tags"} - {
        "columnLineage"
    }
    assert found == {
        "id": {"namespace": "db", "name": "orders"},
        "type": "DB_TABLE",
        "name": "orders",
        "physicalName": "orders",
        "createdAt": at(2),
        "updatedAt": at(6),
        "namespace": "db",
        "sourceName": "shop",
        "fields": [{"name": "id", "type": "int", "tags": [], "description": None}],
        "tags": ["pii=yes"],
        "lastModifiedAt": at(2),
        "lastLifecycleState": "",
        "description": "Clean orders.",
        "currentVersion": guid_of(artifact_urn("db", "orders", FIRST)),
        "columnLineage": [
            {
                "name": "id",
                "inputFields": [
                    {
                        "namespace": BUCKET,
                        "dataset": "raw/orders",
                        "field": "id",
                        "datasetVersion": None,
                        "transformationDescription": None,
                        "transformationType": None,
                    }
                ],
                "transformationDescription": None,
                "transformationType": None,
            }
        ],
        "deleted": False,
    }
    assert marquez.get_dataset(BUCKET, "raw/orders")["name"] == "raw/orders"
    assert marquez.get_dataset("colons:here", "a:b")["name"] == "a:b"


def test_the_versions_of_a_dataset(marquez: MarquezClient) -> None:
    found = marquez.list_dataset_versions("db", "orders")
    (version,) = found["versions"]
    assert (found["totalCount"], version["version"]) == (
        1,
        guid_of(artifact_urn("db", "orders", FIRST)),
    )
    assert version["createdByRun"]["id"] == FIRST
    assert marquez.get_dataset_version("db", "orders", version["version"]) == version
    with pytest.raises(APIError):
        marquez.get_dataset_version("db", "orders", guid_of("another"))


def test_a_page_costs_equally_many_statements_whatever_its_length(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    plain = Database.ask

    def counted(self: Database, text: str, *args: Any, **kwargs: Any) -> Any:
        statements.append(text)
        return plain(self, text, *args, **kwargs)

    monkeypatch.setattr(Database, "ask", counted)
    for path in ("/jobs", "/namespaces/db/datasets"):
        statements.clear()
        get_json(client, path, limit=1)
        one = len(statements)
        get_json(client, path, limit=50)
        assert 2 * one == len(statements) < 24, path
