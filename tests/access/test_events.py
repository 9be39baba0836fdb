"""What a key may tell: cases by hand, each with the field that is to blame."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.access.events import ForeignEventError, judge
from headwater.access.principal import ANYBODY, Principal, Scope
from headwater.schema.sight import Sight
from tests.stories import FACET

TEAM = Principal("team", frozenset({Scope.INGEST}), Sight(("team-a*", "s3://lake")))
WIDE = Principal("wide", frozenset({Scope.INGEST}))
STEWARD = Principal("steward", frozenset({Scope.INGEST, Scope.STEWARD}), Sight(("team-a*", "s3://lake")))


def run(namespace: str = "team-a", **parts: Any) -> dict[str, Any]:
    job = {"namespace": namespace, "name": "j"}
    return {"eventType": "COMPLETE", "run": {"runId": "r"}, "job": job, "inputs": [], "outputs": [], **parts}


def dataset(namespace: str, *names: str, facet: str = "symlinks") -> dict[str, Any]:
    identifiers = [{"namespace": name, "name": "t", "type": "TABLE"} for name in names]
    facets = {facet: {**FACET, "identifiers": identifiers}} if names else {}
    return {"namespace": namespace, "name": "d", "facets": facets}


def foreign(principal: Principal, event: dict[str, Any]) -> str:
    """The field for which an event is refused; "" when it is not."""
    try:
        judge(principal, json.dumps(event).encode())
    except ForeignEventError as error:
        return error.field
    return ""


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (run(), ""),
        (run("team-a2"), ""),
        (run("team-b"), "job.namespace"),
        (run("TEAM-A"), "job.namespace"),
        (run("xteam-a"), "job.namespace"),
        # Others' datasets may be read, written and referred to.
        (run(inputs=[dataset("theirs")], outputs=[dataset("theirs")]), ""),
        (run(run={"runId": "r", "facets": {"parent": {"job": {"namespace": "theirs", "name": "dag"}}}}), ""),
        # They may not be made one with something else, nor something else with them.
        (run(inputs=[dataset("s3://lake", "team-a")]), ""),
        (
            run(inputs=[dataset("team-a"), dataset("team-a", "theirs")]),
            "inputs.1.facets.symlinks.identifiers.0.namespace",
        ),
        (run(outputs=[dataset("theirs", "team-a")]), "outputs.0.namespace"),
        (run(outputs=[dataset("team-a", "s3://lake", "theirs")]), "outputs.0.facets.symlinks.identifiers.1.namespace"),
        ({"dataset": dataset("team-a")}, ""),
        ({"dataset": dataset("theirs")}, "dataset.namespace"),
        ({"job": {"namespace": "theirs", "name": "j"}}, "job.namespace"),
        # Nothing is in sight that has no namespace, or one that is no text.
        ({"job": {"name": "j"}}, "job.namespace"),
        ({"dataset": {"namespace": 7, "name": "d"}}, "dataset.namespace"),
    ],
)
def test_a_key_for_some_namespaces(event: dict[str, Any], field: str) -> None:
    assert foreign(TEAM, event) == field
    assert foreign(WIDE, event) == ""
    assert foreign(ANYBODY, event) == ""


def test_a_name_spelled_with_escapes_is_the_same_name() -> None:
    body = json.dumps(run("theirs")).replace("theirs", "\\u0074heirs").replace('"job"', '"\\u006aob"')
    with pytest.raises(ForeignEventError) as refusal:
        judge(TEAM, body.encode())
    assert refusal.value.status == 403
    assert refusal.value.mend


def test_deciding_what_is_one_dataset_is_for_stewards() -> None:
    own = {"dataset": dataset("team-a", "s3://lake", facet="headwater_symlinks")}
    assert foreign(WIDE, own) == "dataset.facets.headwater_symlinks"
    assert foreign(TEAM, own) == "dataset.facets.headwater_symlinks"
    assert foreign(STEWARD, own) == ""
    theirs = {"dataset": dataset("team-a", "theirs", facet="headwater_symlinks")}
    assert foreign(STEWARD, theirs) == "dataset.facets.headwater_symlinks.identifiers.0.namespace"
    assert foreign(ANYBODY, theirs) == ""
