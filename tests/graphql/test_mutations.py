"""The tutorial's steps 1 to 7 by mutation, and refused input."""

from __future__ import annotations

import pytest

from tests.graphql.conftest import Ask

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

SOURCE = "mutation ($i: SourceInput!) { registerSource(input: $i) { urn id accepted } }"
RUN = "mutation ($i: PipelineRunInput!) { registerPipelineRun(input: $i) { urn id accepted } }"
ARTIFACT = "mutation ($i: ArtifactInput!) { registerArtifact(input: $i) { urn id accepted } }"
ANSWER = "mutation ($i: AnswerInput!) { registerAnswer(input: $i) { urn id accepted } }"


def named(*names: str) -> list[dict[str, str]]:
    return [{"namespace": "default", "name": name} for name in names]


CRM = {
    "name": "crm-export",
    "origin": "Salesforce",
    "format": "csv",
    "rowCount": 14_200,
    "capturedAt": "2025-03-01T00:00:00Z",
    "checksum": "sha256:abc123",
}
ENRICH = {
    "runId": "enrich-contacts-v2-20250301",
    "pipelineName": "enrich-contacts",
    "version": "v2.4.1",
    "startedAt": "2025-03-01T01:00:00Z",
    "finishedAt": "2025-03-01T01:47:23Z",
    "status": "success",
    "triggeredBy": "scheduler",
    "inputs": named("crm-export", "billing"),
    "outputs": named("contacts-enriched"),
}
CONTACTS = {
    "name": "contacts-enriched",
    "runId": "enrich-contacts-v2-20250301",
    "type": "dataset",
    "rowCount": 13_940,
    "storagePath": "s3://data-lake/enriched/contacts.parquet",
    "createdAt": "2025-03-01T01:47:23Z",
    "schema": "contacts-enriched-v3",
}
SUMMARY = {
    "runId": "summary-q1",
    "pipelineName": "generate-summary",
    "startedAt": "2025-04-01T08:00:00Z",
    "finishedAt": "2025-04-01T08:11:42Z",
    "inputs": named("contacts-enriched"),
    "outputs": named("q1-summary"),
}
FAILED_SUMMARY = {
    **SUMMARY,
    "runId": "summary-q2",
    "startedAt": "2025-07-01T08:00:00Z",
    "finishedAt": "2025-07-01T08:01:00Z",
    "status": "failed",
    "error": "boom",
}
REPORT = {
    "answerId": "report-q1-retention",
    "type": "retention-report",
    "generatedAt": "2025-04-02T09:00:00Z",
    "generatedBy": "analytics-agent-v3",
    "content": "Q1 2025: churn rate dropped 4.2% YoY.",
    "cites": named("q1-summary"),
}


@pytest.fixture
def seed(data: Ask, clean_graph: object) -> None:
    """Run steps 1 to 5 of the seed, and one run that fails."""
    del clean_graph
    registered = data(SOURCE, i=CRM)["registerSource"]
    assert registered == {"urn": "source:default:crm-export", "id": "crm-export", "accepted": True}
    data(SOURCE, i={"name": "billing", "origin": "Stripe", "format": "json", "rowCount": 3_800})
    assert data(RUN, i=ENRICH)["registerPipelineRun"]["urn"] == "run:enrich-contacts-v2-20250301"
    assert data(ARTIFACT, i=CONTACTS)["registerArtifact"]["urn"] == (
        "artifact:default:contacts-enriched:enrich-contacts-v2-20250301"
    )
    data(RUN, i=SUMMARY)
    data(RUN, i=FAILED_SUMMARY)
    assert data(ANSWER, i=REPORT)["registerAnswer"]["id"] == "report-q1-retention"


@pytest.mark.usefixtures("seed")
def test_step_6_the_answer_traced_to_its_sources(data: Ask) -> None:
    found = data(
        """{ trace(answerId: "report-q1-retention") {
          sources { name origin checksum } artifacts { name type rowCount storagePath schema }
          runs { runId status version triggeredBy } answer { type generatedBy } } }"""
    )["trace"]
    assert {(source["name"], source["origin"]) for source in found["sources"]} == {
        ("crm-export", "Salesforce"),
        ("billing", "Stripe"),
    }
    shown = ("name", "type", "rowCount", "storagePath", "schema")
    assert found["artifacts"][1] == {key: CONTACTS[key] for key in shown}
    assert found["runs"][1] == {
        "runId": "enrich-contacts-v2-20250301",
        "status": "COMPLETE",
        "version": "v2.4.1",
        "triggeredBy": "scheduler",
    }
    assert found["answer"] == {"type": "retention-report", "generatedBy": "analytics-agent-v3"}


@pytest.mark.usefixtures("seed")
def test_step_7_the_failed_run_and_what_it_touches(data: Ask) -> None:
    query = """{ failedRuns { edges { node { runId status error
      downstream { answers { answerId } artifacts { name } } } } } }"""
    assert [edge["node"] for edge in data(query)["failedRuns"]["edges"]] == [
        {
            "runId": "summary-q2",
            "status": "FAIL",
            "error": "boom",
            "downstream": {
                "answers": [{"answerId": "report-q1-retention"}],
                "artifacts": [{"name": "q1-summary"}],
            },
        }
    ]


def test_citations_of_every_kind(data: Ask) -> None:
    data(RUN, i={"runId": "r1", "pipelineName": "p", "inputs": named("raw"), "outputs": named("t")})
    data(ANSWER, i={"answerId": "base", "cites": named("t")})
    cites = [
        {"namespace": "default", "name": "t", "runId": "r1"},
        {"namespace": "default", "name": "t", "field": "id"},
        {"answerId": "base"},
    ]
    data(ANSWER, i={"answerId": "all", "cites": cites})
    found = data('{ answer(answerId: "all") { citations { urn } } }')["answer"]["citations"]
    assert [citation["urn"] for citation in found] == [
        "answer:base",
        "artifact:default:t:r1",
        "column:default:t:id",
    ]


@pytest.mark.parametrize(
    ("mutation", "value"),
    [
        (SOURCE, {"name": "  "}),
        (SOURCE, {"name": "x", "rowCount": 2**70}),
        (SOURCE, {"name": "x", "capturedAt": "30 February"}),
        (SOURCE, {}),
        (RUN, {"runId": "", "pipelineName": "p"}),
        (RUN, {"runId": "r", "pipelineName": "p", "status": "exploded"}),
        (RUN, {"runId": "r", "pipelineName": "p", "status": ""}),
        (RUN, {"runId": "r", "pipelineName": "p", "inputs": [{"namespace": "", "name": "x"}]}),
        (ARTIFACT, {"name": "a", "runId": " "}),
        (ANSWER, {"answerId": "", "cites": []}),
        (ANSWER, {"answerId": "a", "cites": [{}]}),
        (ANSWER, {"answerId": "a", "cites": [{"namespace": "n"}]}),
        (ANSWER, {"answerId": "a", "cites": [{"answerId": "b", "name": "x"}]}),
        (ANSWER, {"answerId": "a", "cites": [{"field": "x"}]}),
    ],
)
def test_refused_requests(refused: Ask, mutation: str, value: object) -> None:
    assert refused(mutation, i=value)["extensions"]["code"] == "BAD_REQUEST"


def test_a_run_that_is_still_running(data: Ask) -> None:
    began = {"runId": "r", "pipelineName": "p", "startedAt": "2025-04-01T08:00:00Z"}
    data(RUN, i={**began, "status": "running"})
    query = '{ run(runId: "r") { status finishedAt } }'
    assert data(query)["run"] == {"status": "RUNNING", "finishedAt": None}
    ended = {
        "runId": "r",
        "pipelineName": "p",
        "startedAt": "2025-04-01T08:00:00Z",
        "finishedAt": "2025-04-01T09:00:00Z",
    }
    data(RUN, i=ended)
    assert data(query)["run"] == {"status": "COMPLETE", "finishedAt": "2025-04-01T09:00:00Z"}
