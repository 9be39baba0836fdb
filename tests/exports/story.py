"""A small graph for the exports: two jobs, three datasets, columns, an owner, a tag, an answer."""

from __future__ import annotations

from headwater.cypher.driver.database import Database
from headwater.schema.headwater_facets import Event
from tests.canonical import empty
from tests.event_builders import columns, dataset, run_event, schema
from tests.run_builders import answer, write_events

LOAD, RANK = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
EVIL = "x<&\"'>\x01,(y)\n"
EVENTS: list[Event] = [
    run_event(
        LOAD,
        minute=0,
        job="load",
        inputs=[dataset("raw", schema(id="bigint", mail="string"))],
        outputs=[
            dataset(
                "clean",
                {
                    **schema(id="bigint", mail="string", day="date"),
                    **columns(id=[("raw", "id")], mail=[("raw", "mail")]),
                    "ownership": {"owners": [{"name": "team:sales", "type": "DATAOWNER"}]},
                    "documentation": {"description": EVIL},
                    "tags": {"tags": [{"key": "certified", "value": "true", "source": "x"}]},
                },
            )
        ],
    ),
    run_event(
        RANK,
        "FAIL",
        minute=5,
        job="rank",
        inputs=[dataset("clean")],
        outputs=[dataset("mart", namespace="s3://lake")],
    ),
    *answer("best", "clean", minute=9, content="42"),
]


def write_story(database: Database) -> None:
    empty(database)
    write_events(database, EVENTS)
