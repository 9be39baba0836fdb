"""An event of a restricted key names jobs and datasets that it does not cover, and describes none.

Team A owns the namespace `team-a`, team B the job `team-b/victim`. Expected values by hand.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.ingest.fold import fold
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from headwater.schema.facts import DatasetFacts, JobFacts, Name

VICTIM, URN = Name("team-b", "victim"), "job:team-b:victim"
R = "0198c2f4-0000-7000-8000-000000000001"
EVIL = {"namespace": "team-a", "name": "evil"}
TARGET = {
    "type": "JOB",
    "namespace": "team-b",
    "name": "victim",
    "inputs": [{"type": "DATASET", "namespace": "db", "name": "evil"}],
}
OUTPUT = {
    "type": "DATASET",
    "namespace": "team-a",
    "name": "own",
    "inputs": [{"type": "JOB", "namespace": "team-b", "name": "victim"}],
}
THROUGH = {
    **TARGET,
    "inputs": [{"type": "JOB", "namespace": "team-a", "name": "evil"}],
}
PARENT = {
    "run": {"runId": R},
    "job": {"namespace": "team-b", "name": "victim"},
    "root": {"run": {"runId": R}, "job": {"namespace": "team-a", "name": "evil"}},
}
DEPENDENCIES = {"downstream": [{"job": {"namespace": "team-b", "name": "victim"}}]}


def folded(sender: list[str] | None, *, job: dict[str, Any], run: dict[str, Any]) -> GraphDelta:
    event = {
        "eventType": "START",
        "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": "0198c2f4-0000-7000-8000-000000000002", "facets": run},
        "job": {"namespace": "team-a", "name": "w", "facets": job},
        **({"headwater_sender": sender} if sender else {}),
    }
    return fold([parse(json.dumps(event).encode(), received=1)])


def declared(sender: list[str] | None, facets: dict[str, Any]) -> GraphDelta:
    event = {
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "team-a", "name": "w", "facets": facets},
        **({"headwater_sender": sender} if sender else {}),
    }
    return fold([parse(json.dumps(event).encode(), received=1)])


@pytest.mark.parametrize(
    ("job", "run"),
    [
        ({"lineage": {"entries": [TARGET]}}, {}),
        ({"lineage": {"entries": [OUTPUT]}}, {}),
        ({"lineage": {"entries": [THROUGH]}}, {}),
        ({}, {"parent": PARENT}),
        ({}, {"jobDependencies": DEPENDENCIES}),
    ],
    ids=["inputs", "output", "source", "root", "order"],
)
def test_a_key_does_not_describe_jobs_that_it_does_not_cover(
    job: dict[str, Any], run: dict[str, Any]
) -> None:
    found = folded(["team-a*"], job=job, run=run)
    assert found.jobs.get(URN, JobFacts(VICTIM)) == JobFacts(VICTIM)
    # A key that covers it describes it, and so does an unrestricted one.
    for sender in (["team-a", "team-b"], None):
        assert folded(sender, job=job, run=run).jobs[URN] != JobFacts(VICTIM)


def test_data_of_another_job_goes_into_the_own_job() -> None:
    found = folded(["team-a*"], job={"lineage": {"entries": [OUTPUT]}}, run={})
    assert list(found.jobs["job:team-a:w"].sources) == [URN]
    found = declared(["team-a*"], {"lineage": {"entries": [OUTPUT]}})
    assert list(found.jobs["job:team-a:w"].inputs) == [URN]
    assert found.jobs[URN] == JobFacts(VICTIM)


@pytest.mark.parametrize("entry", [TARGET, OUTPUT, THROUGH], ids=["inputs", "output", "source"])
def test_a_declaration_does_not_describe_other_jobs(entry: dict[str, Any]) -> None:
    found = declared(["team-a*"], {"lineage": {"entries": [entry]}})
    assert found.jobs.get(URN, JobFacts(VICTIM)) == JobFacts(VICTIM)
    for sender in (["team-a", "team-b"], None):
        found = declared(sender, {"lineage": {"entries": [entry]}})
        assert found.jobs[URN] != JobFacts(VICTIM)


@pytest.mark.parametrize("kind", ["dataset", "input"])
def test_a_dataset_does_not_describe_the_jobs_that_it_comes_from(kind: str) -> None:
    own = {
        "namespace": "team-a",
        "name": "own",
        "facets": {"lineage": {"inputs": OUTPUT["inputs"]}},
    }
    for sender, found in ((["team-a*"], []), (["team-a", "team-b"], [URN]), (None, [URN])):
        event: dict[str, Any] = {"eventTime": "2026-01-01T00:00:00Z"}
        if sender is not None:
            event["headwater_sender"] = sender
        if kind == "dataset":
            event["dataset"] = own
        else:
            event |= {"job": {"namespace": "team-a", "name": "w"}, "inputs": [own]}
        delta = fold([parse(json.dumps(event).encode(), received=1)])
        assert list(delta.datasets["dataset:team-a:own"].sources) == found


def test_a_key_says_what_its_own_job_depends_on() -> None:
    upstream = {"upstream": [{"job": {"namespace": "team-b", "name": "victim"}}]}
    own = {"type": "JOB", "namespace": "team-a", "name": "w", "inputs": OUTPUT["inputs"]}
    delta = folded(
        ["team-a*"], job={"lineage": {"entries": [own]}}, run={"jobDependencies": upstream}
    )
    assert delta.jobs[URN] == JobFacts(VICTIM)
    assert list(delta.jobs["job:team-a:w"].after) == [URN]
    assert list(delta.jobs["job:team-a:w"].sources) == [URN]


def test_facets_of_another_dataset_describe_nothing() -> None:
    facets = {
        "version": {"datasetVersion": "7"},
        "documentation": {"description": "taken over"},
        "columnLineage": {"fields": {"a": {"inputFields": [{**EVIL, "field": "b"}]}}},
    }
    read = {"namespace": "team-b", "name": "read", "facets": facets}
    written = {"namespace": "team-b", "name": "written", "facets": facets}
    for sender in (["team-a*"], None):
        event = {
            "eventTime": "2026-01-01T00:00:00Z",
            "run": {"runId": R},
            "job": {"namespace": "team-a", "name": "w"},
            "inputs": [read],
            "outputs": [written],
            **({"headwater_sender": sender} if sender else {}),
        }
        delta = fold([parse(json.dumps(event).encode(), received=1)])
        for name in ("read", "written"):
            found = delta.datasets[f"dataset:team-b:{name}"]
            bare = DatasetFacts(found.dataset, found.span)
            assert (found == bare) is (sender is not None)
        # A key adds no column to another team's dataset, and no origin to its columns.
        assert bool(delta.columns) is (sender is None)
        # What the run itself read and wrote is its own affair.
        run = delta.runs[f"run:{R}"]
        assert run.inputs["dataset:team-b:read"].version is not None
        assert run.outputs["dataset:team-b:written"].derived == {Name("team-a", "evil")}


def test_failed_tests_of_a_run_are_not_those_of_another_teams_dataset() -> None:
    source = {"type": "DATASET", "namespace": "team-b", "name": "read"}
    own = {"type": "JOB", "namespace": "team-a", "name": "w", "runId": R, "inputs": [source]}
    for sender, foreign in ((["team-a*"], True), (["team-a", "team-b"], False)):
        run = {
            "eventTime": "2026-01-01T00:00:00Z",
            "run": {"runId": R},
            "job": {"namespace": "team-a", "name": "w"},
            "inputs": [{"namespace": "team-b", "name": "read"}],
            "headwater_sender": sender,
        }
        declared = {
            "eventTime": "2026-01-01T00:00:00Z",
            "job": {"namespace": "team-a", "name": "v", "facets": {"lineage": {"entries": [own]}}},
            "headwater_sender": sender,
        }
        bodies = [json.dumps(event).encode() for event in (run, declared)]
        delta = fold(parse(body, received=1) for body in bodies)
        assert delta.runs[f"run:{R}"].inputs["dataset:team-b:read"].foreign is foreign
