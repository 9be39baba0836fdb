"""The rows of a trace and the picture of a lineage, from the JSON of the API."""

from __future__ import annotations

from typing import Any

from headwater.client.rows import picture_of, trace_rows


def test_a_trace_is_the_answer_and_then_each_kind() -> None:
    found = {
        "answer": {"urn": "answer:a", "answerId": "a", "generatedAt": "2026-03-02T12:00:00Z"},
        "answers": [{"urn": "answer:b", "answerId": "b"}],
        "artifacts": [
            {
                "urn": "artifact:db:mart:1",
                "namespace": "db",
                "name": "mart",
                "createdAt": "2026-03-02T11:00:00Z",
                "rowCount": 7,
            }
        ],
        "runs": [
            {
                "urn": "run:1",
                "namespace": "etl",
                "pipelineName": "load",
                "runId": "1",
                "status": "FAIL",
                "startedAt": "2026-03-02T10:00:00Z",
            }
        ],
        "sources": [{"urn": "source:f:in", "namespace": "f", "name": "in"}],
        "columns": [{"urn": "column:db:mart:x"}],
    }
    keys = ("kind", "namespace", "name", "status", "at", "rowCount", "urn")
    assert [tuple(row[key] for key in keys) for row in trace_rows(found)] == [
        ("ANSWER", None, "a", None, "2026-03-02T12:00:00Z", None, "answer:a"),
        ("ANSWER", None, "b", None, None, None, "answer:b"),
        ("ARTIFACT", "db", "mart", None, "2026-03-02T11:00:00Z", 7, "artifact:db:mart:1"),
        # A run has the name of its job.
        ("PIPELINE_RUN", "etl", "load", "FAIL", "2026-03-02T10:00:00Z", None, "run:1"),
        ("SOURCE", "f", "in", None, None, None, "source:f:in"),
        ("COLUMN", None, "column:db:mart:x", None, None, None, "column:db:mart:x"),
    ]


def test_a_picture_has_the_edges_in_which_data_flows() -> None:
    nodes: list[dict[str, Any]] = [
        {"urn": "source:f:in", "kind": "SOURCE", "name": "in"},
        {"urn": "run:1", "kind": "PIPELINE_RUN", "name": "load", "status": "FAIL"},
        {"urn": "answer:a", "kind": "ANSWER", "name": "a", "status": None},
    ]
    edges = [
        {"source": "source:f:in", "target": "run:1", "type": "FEEDS"},
        {"source": "run:1", "target": "artifact:x", "type": "PRODUCED"},
        {"source": "artifact:x", "target": "answer:a", "type": "CITED_BY"},
        {"source": "run:1", "target": "job:etl:load", "type": "RUN_OF"},
    ]
    found = picture_of(nodes, edges, "answer:a")
    assert [(one.urn, one.kind, one.name) for one in found.nodes] == [
        ("source:f:in", "SOURCE", "in"),
        ("run:1", "PIPELINE_RUN", "load"),
        ("answer:a", "ANSWER", "a"),
    ]
    assert found.edges == [
        ("source:f:in", "run:1"),
        ("run:1", "artifact:x"),
        ("artifact:x", "answer:a"),
    ]
