"""Audit queries about runs: the reach of personal data, and stale, unused, expensive or incomplete
data.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_audit
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.event_builders import (
    dataset,
    dataset_event,
    facet,
    parent,
    run_event,
    schema,
    write_batch,
)
from tests.run_builders import Event, answer, at

pytestmark = pytest.mark.neo4j

IDENTITY = {"type": "DIRECT", "subtype": "IDENTITY"}
MASKED = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
FILTER = {"type": "INDIRECT", "subtype": "FILTER"}


def rows(database: Database, name: str, /, **parameters: str) -> list[tuple[Any, ...]]:
    found = run_audit(database, name, parameters)
    return [tuple(map(row.get, found.columns)) for row in found.rows]


def minute(number: int) -> datetime:
    return datetime(2026, 1, 1, number // 60, number % 60, tzinfo=UTC)


def column_facet(**fields: tuple[str, str, list[Event]]) -> Event:
    """Build column lineage with transformations; a field is (dataset, field, transformations)."""
    return {
        "columnLineage": {
            "fields": {
                name: {
                    "inputFields": [
                        {
                            "namespace": "db",
                            "name": source,
                            "field": field,
                            "transformations": transformations,
                        }
                    ]
                }
                for name, (source, field, transformations) in fields.items()
            }
        }
    }


def tags(*tags: tuple[str, str, str | None]) -> Event:
    return {
        "tags": {
            "tags": [{"key": key, "value": value, "field": field} for key, value, field in tags]
        }
    }


@pytest.fixture(scope="module")
def personal(database: Database) -> Database:
    """Write people -> staging -> mart -> export without columns; customers are personal as a
    whole.
    """
    masked_in_the_older_form = {
        "columnLineage": {
            "fields": {
                "ssn": {
                    "inputFields": [{"namespace": "db", "name": "people", "field": "ssn"}],
                    "transformationType": "MASKED",
                }
            }
        }
    }
    staging = column_facet(
        ssn=("people", "ssn", [IDENTITY]),
        hash=("people", "ssn", [MASKED]),
        mail=(
            "people",
            "Email",
            [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": False}],
        ),
        town=("people", "town", [IDENTITY]),
        kept=("people", "ssn", [FILTER]),
    )
    mart = column_facet(
        ssn=("staging", "ssn", [IDENTITY]),
        h=("staging", "hash", [IDENTITY]),
        both=("staging", "mail", [MASKED, IDENTITY]),
    )
    empty(database)
    write_batch(
        database,
        [
            dataset_event(
                "people",
                facets={
                    **schema(ssn="string", Email="string", town="string"),
                    **tags(
                        ("PII", "true", "ssn"),
                        ("classification", "pii", "Email"),
                        ("pii", "false", "town"),
                    ),
                },
            ),
            dataset_event(
                "customers", facets={**schema(name="string"), **tags(("pii", "name", None))}
            ),
            dataset_event(
                "harmless",
                facets={**schema(x="string"), **tags(("pii", "no", None), ("color", "red", None))},
            ),
            run_event(
                "1", minute=1, job="stage", inputs=["people"], outputs=[dataset("staging", staging)]
            ),
            run_event(
                "2", minute=2, job="mart", inputs=["staging"], outputs=[dataset("mart", mart)]
            ),
            run_event("3", minute=3, job="export", inputs=["mart"], outputs=["export"]),
            run_event(
                "4",
                minute=4,
                job="hide",
                inputs=["people"],
                outputs=[dataset("hidden", masked_in_the_older_form)],
            ),
            run_event(
                "5",
                minute=5,
                job="copy",
                inputs=["customers", "harmless"],
                outputs=[
                    dataset("copy", column_facet(name=("customers", "name", [IDENTITY]))),
                    dataset("other", column_facet(x=("harmless", "x", [IDENTITY]))),
                ],
            ),
        ],
    )
    return database


def test_personal_data_is_followed_where_it_is_not_masked(personal: Database) -> None:
    expected = [
        ("db customers", "name", 1, "db copy", "name", "job:etl:copy", ["DIRECT:IDENTITY"]),
        ("db people", "Email", 1, "db staging", "mail", "job:etl:stage", ["DIRECT:TRANSFORMATION"]),
        (
            *("db people", "Email", 2, "db mart", "both", "job:etl:mart"),
            ["DIRECT:IDENTITY", "DIRECT:TRANSFORMATION:masked"],
        ),
        ("db people", "Email", 3, "db export", None, "job:etl:export", None),
        ("db people", "ssn", 1, "db staging", "ssn", "job:etl:stage", ["DIRECT:IDENTITY"]),
        ("db people", "ssn", 2, "db mart", "ssn", "job:etl:mart", ["DIRECT:IDENTITY"]),
        ("db people", "ssn", 3, "db export", None, "job:etl:export", None),
    ]
    assert rows(personal, "pii_reach") == expected
    assert rows(personal, "pii_reach", limit="2") == expected[:2]


def test_indirect_columns_are_listed_on_request(personal: Database) -> None:
    found = {row[:5] for row in rows(personal, "pii_reach", indirect="true")}
    assert found - {row[:5] for row in rows(personal, "pii_reach")} == {
        ("db people", "ssn", 1, "db staging", "kept")
    }


def test_another_tag_is_another_question(personal: Database) -> None:
    assert [row[:5] for row in rows(personal, "pii_reach", tag="red")] == [
        ("db harmless", "x", 1, "db other", "x")
    ]
    assert rows(personal, "pii_reach", tag="p") == []


def test_readers_of_personal_data_are_listed_with_the_columns_they_used(personal: Database) -> None:
    readers = rows(personal, "personal_data_readers")
    # Masked columns were read too. What a run wrote is personal only if it has the tag itself.
    assert readers == [
        (minute(5), "db", "customers", ["*"], ["name"], "etl", "copy", [], "5", "COMPLETE"),
        (minute(4), "db", "people", ["Email", "ssn"], ["ssn"], "etl", "hide", [], "4", "COMPLETE"),
        (
            *(minute(1), "db", "people", ["Email", "ssn"], ["Email", "ssn"]),
            *("etl", "stage", [], "1", "COMPLETE"),
        ),
    ]
    window = {"since": "2026-01-01T00:04:00Z", "until": "2026-01-01T00:05:00Z"}
    assert rows(personal, "personal_data_readers", **window) == readers[1:2]
    assert rows(personal, "personal_data_readers", limit="1") == readers[:1]
    assert rows(personal, "personal_data_readers", namespace="elsewhere") == []
    assert [row[2] for row in rows(personal, "personal_data_readers", tag="RED")] == ["harmless"]


def test_readers_without_column_lineage_and_their_owners(database: Database) -> None:
    empty(database)
    owned = {"ownership": {"owners": [{"name": "dora"}]}}
    write_batch(
        database,
        [
            dataset_event(
                "people", facets={**schema(ssn="string"), **tags(("pii", "true", "ssn"))}
            ),
            run_event("dag-1", minute=1, job="dag", job_facets=owned),
            # It fails, and has read nevertheless; its job has no owner, its DAG has one.
            run_event(
                "x-1", "FAIL", 3, job="export", inputs=["people"], facets=parent("dag-1", "dag")
            ),
            run_event("y-1", minute=2, job="other", inputs=["shops"], outputs=["people"]),
        ],
    )
    found = run_audit(database, "personal_data_readers", {}).rows
    assert [
        (row["runId"], row["status"], row["tagged"], row["used"], row["owners"]) for row in found
    ] == [("x-1", "FAIL", ["ssn"], None, ["dora"])]


def ran(
    run_id: str, job: str, start: int, end: int, state: str = "COMPLETE", **more: Any
) -> Iterator[Event]:
    """Build a run from one minute to another."""
    yield run_event(run_id, "START", start, job=job, **more)
    yield run_event(run_id, state, end, job=job, **more)


def sized(name: str, rows: int, bytes: int, side: str = "output") -> Event:
    key = "outputStatistics" if side == "output" else "inputStatistics"
    return dataset(name, usage={key: facet(rowCount=rows, size=bytes)}, side=side)


@pytest.fixture(scope="module")
def used(database: Database) -> Database:
    """Write raw -> clean -> mart -> page.

    clean is made again after mart, then fails; draft is only ever left unfinished; dead was read
    long ago, old is never read.
    """
    empty(database)
    owned = {"ownership": {"owners": [{"name": "ada"}]}}
    write_batch(
        database,
        [
            *ran(
                "c1",
                "clean",
                0,
                2,
                inputs=[sized("raw", 9, 900, "input")],
                outputs=[sized("clean", 9, 500)],
                job_facets=owned,
            ),
            *ran("m1", "mart", 3, 4, inputs=["clean"], outputs=[sized("mart", 1, 50)]),
            *ran(
                "c2",
                "clean",
                5,
                8,
                inputs=[sized("raw", 9, 900, "input")],
                outputs=[sized("clean", 9, 600)],
                job_facets=owned,
            ),
            *ran(
                "c3",
                "clean",
                9,
                10,
                "FAIL",
                inputs=["raw"],
                outputs=[sized("clean", 2, 20)],
                job_facets=owned,
            ),
            *ran("p1", "page", 11, 12, inputs=["mart"], outputs=["page"]),
            *ran("d1", "draft", 13, 14, "ABORT", inputs=["raw"], outputs=["draft"]),
            *ran("o1", "old", 0, 1, outputs=[sized("old", 5, 7_000)]),
            *ran("e1", "dead", 0, 1, inputs=["raw"], outputs=[sized("dead", 5, 10)]),
            *ran("e2", "dead", 1, 2, inputs=["dead"], outputs=["dead"]),
            *answer("good", "page", minute=15),
            *answer("stopped", "clean", "draft", minute=16),
            *answer("nothing", minute=17),
            *answer("grown", "old", minute=18),
            native.answer_event(
                "never",
                cites=[{"namespace": "db", "name": "mart", "runId": "gone"}],
                generated_at=at(19),
            ),
        ],
    )
    return database


def test_a_dataset_older_than_its_inputs_is_stale(used: Database) -> None:
    assert rows(used, "stale_datasets") == [
        (minute(4), "db", "mart", "an input has a newer version", ["db clean"]),
        (None, "db", "draft", "no whole version was ever made", []),
    ]
    found = rows(used, "stale_datasets", before=at(9))
    assert [(row[2], row[3]) for row in found] == [
        ("old", "not made since"),
        ("dead", "not made since"),
        ("mart", "an input has a newer version"),
        ("clean", "not made since"),
        ("draft", "no whole version was ever made"),
    ]


def test_a_dataset_without_recent_reads_is_unused(used: Database) -> None:
    assert rows(used, "unused_datasets", since=at(9)) == [
        (minute(1), "db", "dead", 2, None, 1),
    ]
    assert rows(used, "unused_datasets", since=at(1)) == []


def test_cost_is_time_and_bytes_by_job(used: Database) -> None:
    found = rows(used, "cost", until=at(11))
    assert found == [
        ("etl", "clean", ["ada"], 3, 360.0, 60.0, 1800, 1120),
        ("etl", "dead", None, 2, 120.0, 0.0, 0, 10),
        ("etl", "mart", None, 1, 60.0, 0.0, 0, 50),
        ("etl", "old", None, 1, 60.0, 0.0, 0, 7000),
    ]
    assert [row[1] for row in rows(used, "cost", since=at(13))] == ["draft"]


def test_answers_with_incomplete_sources_are_listed(used: Database) -> None:
    found = rows(used, "incomplete_answers")
    assert [row[1:] for row in found] == [
        ("never", 0, "db mart", "gone", "the run that made it was never heard of"),
        ("grown", 0, "db old", "o1", "the run that made it read nothing"),
        ("nothing", None, None, None, "it cites nothing"),
        ("stopped", 0, "db clean", "c3", "the run that made it is FAIL"),
        ("stopped", 0, "db draft", "d1", "the run that made it is ABORT"),
    ]
    assert [row[1] for row in rows(used, "incomplete_answers", newest="1")] == ["never"]
    assert rows(used, "incomplete_answers", since="2026-01-02") == []


def test_a_distant_incomplete_source_of_an_answer_is_found(database: Database) -> None:
    empty(database)
    write_batch(
        database,
        [
            *ran("x", "x", 0, 1, "FAIL", inputs=["raw"], outputs=["a"]),
            *ran("y", "y", 2, 3, inputs=["a"], outputs=["b"]),
            *ran("z", "z", 4, 5, inputs=["b"], outputs=["c"]),
            *answer("far", "c", minute=6),
        ],
    )
    assert [row[1:] for row in rows(database, "incomplete_answers")] == [
        ("far", 2, "db a", "x", "the run that made it is FAIL")
    ]
