"""Headers of entities."""

from __future__ import annotations

from headwater.rest.atlas_nodes import header_of
from headwater.schema.urns import guid_of
from tests.run_builders import ds, job


def test_a_header_has_what_the_graph_or_the_client_says() -> None:
    row = {"name": "t", "namespace": "db", "owners": ["ana", "bo"], "tags": ["PII"]}
    header = header_of(ds("t"), row)
    assert (header.type_name, header.guid, header.status) == ("DataSet", guid_of(ds("t")), "ACTIVE")
    assert (header.attributes.qualified_name, header.attributes.owner) == (ds("t"), "ana")
    assert header.classification_names == ["PII"]
    sent = header_of(ds("t"), row, {"qualifiedName": "t@db", "owner": "zoe"}, "hive_table")
    assert (sent.type_name, sent.attributes.qualified_name) == ("hive_table", "t@db")
    assert sent.attributes.owner == "zoe"


def test_a_deleted_job_without_anything_else() -> None:
    header = header_of(job("j"), {"name": "j", "namespace": "etl", "deletedAt": "2026-01-01"})
    assert (header.type_name, header.status, header.attributes.owner) == (
        "Process",
        "DELETED",
        None,
    )
