"""Notes on labels, types of edges and properties that the graph does not have."""

from __future__ import annotations

import pytest

from headwater.cli.unknown_names import unknown_names
from headwater.cypher.shell_text import statement
from scripts.catalogue import audits, taught


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("MATCH (r:Run) RETURN r.id", ["the graph has no label Run"]),
        (
            "MATCH (r:PipelineRun) RETURN r.id, r.id, r.runId",
            ["no PipelineRun has the property id"],
        ),
        (
            "MATCH (:Job {nam: 'x'})-[:PRODUCES|FEEDS*1..3]->() RETURN 1",
            [
                "no Job has the property nam",
                "the graph has no type of edge PRODUCES: write (j:Job)-[:PRODUCED]->(d:Dataset)",
            ],
        ),
        (
            "MATCH (f:Feature {name: 'clv'})<-[:PRODUCES]-(j:Job)-[:CONSUMES]->(t:Table) RETURN t",
            [
                "the graph has no type of edge PRODUCES: write (j:Job)-[:PRODUCED]->(d:Dataset)",
                "the graph has no type of edge CONSUMES: write (j:Job)<-[:FEEDS]-(d:Dataset)",
            ],
        ),
        (
            "MATCH (m:Model {name: 'm'})-[:TRAINED_ON]->(d:Dataset) RETURN d.name, d.source",
            ["no Dataset has the property source"],
        ),
        ("MATCH (v:Source|Artifact) RETURN v.capturedAt, v.complete", []),
        (
            "MATCH (v:Source|Artifact) RETURN v.statu",
            ["no Artifact or Source has the property statu"],
        ),
        ("MATCH (n:!Migration) RETURN n.whatever", []),
        ("RETURN '(r:Run)' AS text // (r:Run)", []),
        ("WITH {r: 1, Run: [1]} AS row RETURN row.Run, row.x", []),
        ("MATCH (r:PipelineRun) RETURN r.startedAt.year, datetime.truncate('day')", []),
    ],
)
def test_unknown_names_are_noted(text: str, notes: list[str]) -> None:
    assert [note.split(" (similar")[0] for note in unknown_names(text)] == notes


def test_similar_names_are_listed() -> None:
    assert unknown_names("MATCH (r:Run) RETURN r") == [
        "the graph has no label Run (similar: PipelineRun, RunSummary)"
    ]
    assert unknown_names("MATCH (d:Datasets) RETURN d") == [
        "the graph has no label Datasets (similar: Dataset)"
    ]
    assert unknown_names("MATCH ()-[e:PRODUCE]->() RETURN e") == [
        "the graph has no type of edge PRODUCE (similar: PRODUCED)"
    ]


def test_the_library_and_the_lesson_have_no_unknown_names() -> None:
    assert [unknown_names(statement(query)) for query in audits()] == [[] for _ in audits()]
    assert [unknown_names(text) for text in taught()] == [[] for _ in taught()]
