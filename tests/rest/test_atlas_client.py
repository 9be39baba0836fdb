"""The Python client of Apache Atlas against our paths: it writes entities and reads them back."""

from __future__ import annotations

import pytest
from apache_atlas.client.base_client import AtlasClient
from apache_atlas.exceptions import AtlasServiceException
from apache_atlas.model.enums import LineageDirection
from apache_atlas.model.instance import (
    AtlasClassification,
    AtlasEntitiesWithExtInfo,
    AtlasEntity,
    AtlasEntityWithExtInfo,
    AtlasObjectId,
)

from headwater.cypher.driver.database import Database
from headwater.schema.urns import dataset_urn, guid_of, job_urn
from tests.canonical import edges, empty

ORDERS, CLEAN = (
    dataset_urn("hive://primary:10000", f"shop.{name}") for name in ("orders", "clean")
)
LOAD = job_urn("atlas://primary", "load")
# Both packages under the client leave a socket for the garbage collector.
pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture
def client(address: str, database: Database) -> AtlasClient:
    empty(database)
    return AtlasClient(address, ("anybody", "nothing"))


def table(name: str) -> AtlasEntity:
    entity = AtlasEntity({"typeName": "hive_table"})
    entity.attributes = {"qualifiedName": f"shop.{name}@primary", "name": name, "owner": "ana"}
    entity.classifications = [AtlasClassification({"typeName": "Gold"})]
    return entity


def reference(entity: AtlasEntity) -> AtlasObjectId:
    return AtlasObjectId({"guid": entity.guid, "typeName": entity.typeName})


def write(client: AtlasClient) -> None:
    """Create two tables and a process between them, as the examples of the client do."""
    orders, clean = table("orders"), table("clean")
    load = AtlasEntity({"typeName": "spark_process"})
    load.attributes = {
        "qualifiedName": "load@primary",
        "name": "load",
        "inputs": [reference(orders)],
        "outputs": [reference(clean)],
    }
    entities = AtlasEntitiesWithExtInfo()
    entities.entities = [orders, clean, load]
    created = client.entity.create_entities(entities)
    assert created.guidAssignments == {
        orders.guid: guid_of(ORDERS),
        clean.guid: guid_of(CLEAN),
        load.guid: guid_of(LOAD),
    }


def test_entities_are_created_and_read_back(client: AtlasClient, database: Database) -> None:
    write(client)
    assert edges(database, "FEEDS", "PRODUCED") == {
        (ORDERS, "FEEDS", LOAD),
        (LOAD, "PRODUCED", CLEAN),
    }
    found = client.entity.get_entity_by_guid(guid_of(ORDERS)).entity
    assert (found.typeName, found.attributes["owner"]) == ("hive_table", "ana")
    assert [one.typeName for one in found.classifications] == ["Gold"]
    names = {"qualifiedName": "shop.orders@primary"}
    assert client.entity.get_entity_by_attribute("hive_table", names).entity.guid == found.guid
    assert client.entity.get_entity_header_by_guid(found.guid).guid == found.guid
    with pytest.raises(AtlasServiceException, match="ATLAS-404-00-005"):
        client.entity.get_entity_by_attribute("hive_table", {"qualifiedName": "nothing@primary"})


def test_one_entity_is_created_and_updated(client: AtlasClient) -> None:
    whole = AtlasEntityWithExtInfo()
    whole.entity = table("orders")
    created = client.entity.create_entity(whole)
    [header] = created.mutatedEntities["CREATE"]
    assert header["guid"] == guid_of(ORDERS)
    whole.entity.attributes["owner"] = "ben"
    updated = client.entity.update_entity(whole)
    assert [one["guid"] for one in updated.mutatedEntities["UPDATE"]] == [guid_of(ORDERS)]
    assert client.entity.get_entity_by_guid(guid_of(ORDERS)).entity.attributes["owner"] == "ben"


def test_the_lineage_of_an_entity(client: AtlasClient) -> None:
    write(client)
    found = client.lineage.get_lineage_info(guid_of(CLEAN), LineageDirection.INPUT.name, 5)
    assert {(one.fromEntityId, one.toEntityId) for one in found.relations} == {
        (guid_of(ORDERS), guid_of(LOAD)),
        (guid_of(LOAD), guid_of(CLEAN)),
    }
