"""The namespaces that a key may write: cases by hand, each with the refused field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.access.events import ForeignEventError, authorize_event, own_facets_only
from headwater.access.principal import ANONYMOUS, Principal, Scope
from headwater.schema import headwater_facets as native
from headwater.schema.naming import Naming, load_naming
from headwater.schema.naming_rules import read_rules
from headwater.schema.visibility import Visibility
from tests.run_builders import FACET

TEAM = Principal("team", frozenset({Scope.INGEST}), Visibility(("team-a*", "s3://lake")))
WIDE = Principal("wide", frozenset({Scope.INGEST}))
READING = """{"job": {"namespace": "team-a", "name": "j"},
    "inputs": [{"namespace": "%s", "name": "d", "facets": {"symlinks": %s}}]}"""
TWIN = "inputs.0.facets.symlinks.identifiers.0.namespace"
ANSWER = {"headwater_answer": {**FACET, "cites": []}}
STEWARD = Principal(
    "steward", frozenset({Scope.INGEST, Scope.STEWARD}), Visibility(("team-a*", "s3://lake"))
)


def run(namespace: str = "team-a", **parts: Any) -> dict[str, Any]:
    job = {"namespace": namespace, "name": "j"}
    return {
        "eventType": "COMPLETE",
        "run": {"runId": "r"},
        "job": job,
        "inputs": [],
        "outputs": [],
        **parts,
    }


def dataset(namespace: str, *names: str, facet: str = "symlinks") -> dict[str, Any]:
    identifiers = [{"namespace": name, "name": "t", "type": "TABLE"} for name in names]
    facets = {facet: {**FACET, "identifiers": identifiers}} if names else {}
    return {"namespace": namespace, "name": "d", "facets": facets}


def foreign(principal: Principal, event: dict[str, Any]) -> str:
    """Return the field for which an event is refused, or an empty text."""
    try:
        authorize_event(principal, json.dumps(event).encode(), load_naming())
    except ForeignEventError as error:
        return error.field
    return ""


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (run(), ""),
        (run("team-a2"), ""),
        (run(dataset=dataset("team-a")), ""),
        (run(dataset=dataset("others")), "dataset.namespace"),
        (run("team-b"), "job.namespace"),
        (run("TEAM-A"), "job.namespace"),
        (run("xteam-a"), "job.namespace"),
        # A job may read, write and refer to datasets of others.
        (run(inputs=[dataset("theirs")], outputs=[dataset("theirs")]), ""),
        (
            run(
                run={
                    "runId": "r",
                    "facets": {"parent": {"job": {"namespace": "theirs", "name": "dag"}}},
                }
            ),
            "",
        ),
        # A key may not make a foreign dataset an alias, nor give it one.
        (run(inputs=[dataset("s3://lake", "team-a")]), ""),
        (
            run(inputs=[dataset("team-a"), dataset("team-a", "theirs")]),
            "inputs.1.facets.symlinks.identifiers.0.namespace",
        ),
        (run(outputs=[dataset("theirs", "team-a")]), "outputs.0.namespace"),
        (
            run(outputs=[dataset("team-a", "s3://lake", "theirs")]),
            "outputs.0.facets.symlinks.identifiers.1.namespace",
        ),
        ({"dataset": dataset("team-a")}, ""),
        ({"dataset": dataset("theirs")}, "dataset.namespace"),
        ({"job": {"namespace": "theirs", "name": "j"}}, "job.namespace"),
        # A dataset is authorized by its normalised name, in any spelling.
        ({"dataset": {"namespace": "S3A://lake/", "name": "d"}}, ""),
        ({"dataset": {"namespace": "s3a://sea", "name": "d"}}, "dataset.namespace"),
        (run(inputs=[dataset("team-a", "s3n://lake")]), ""),
        # An answer is authorized by its id alone.
        (
            {"dataset": {"namespace": "team-a", "name": "a", "facets": ANSWER}},
            "dataset.facets.headwater_answer",
        ),
    ],
)
def test_a_key_for_some_namespaces(event: dict[str, Any], field: str) -> None:
    assert foreign(TEAM, event) == field
    assert foreign(WIDE, event) == ""
    assert foreign(ANONYMOUS, event) == ""


def test_a_name_spelled_with_escapes_is_the_same_name() -> None:
    body = (
        json.dumps(run("theirs")).replace("theirs", "\\u0074heirs").replace('"job"', '"\\u006aob"')
    )
    with pytest.raises(ForeignEventError) as refusal:
        authorize_event(TEAM, body.encode(), load_naming())
    assert refusal.value.status == 403
    assert refusal.value.hint


def test_only_stewards_declare_aliases() -> None:
    own = {"dataset": dataset("team-a", "s3://lake", facet="headwater_symlinks")}
    assert foreign(WIDE, own) == "dataset.facets.headwater_symlinks"
    assert foreign(TEAM, own) == "dataset.facets.headwater_symlinks"
    assert foreign(STEWARD, own) == ""
    theirs = {"dataset": dataset("team-a", "theirs", facet="headwater_symlinks")}
    assert foreign(STEWARD, theirs) == "dataset.facets.headwater_symlinks.identifiers.0.namespace"
    assert foreign(ANONYMOUS, theirs) == ""


def test_a_scheme_does_not_open_the_namespace_in_a_name() -> None:
    """A scheme of `s3` with a complete address as the name means that address."""
    loose = Principal("loose", frozenset({Scope.INGEST}), Visibility(("s3",)))
    assert (
        foreign(loose, {"dataset": {"namespace": "s3", "name": "s3://theirs/table"}})
        == "dataset.namespace"
    )
    linked = dataset("s3")
    linked["facets"] = {
        "symlinks": {**FACET, "identifiers": [{"namespace": "s3", "name": "s3://theirs/t"}]}
    }
    assert (
        foreign(loose, run("s3", inputs=[linked]))
        == "inputs.0.facets.symlinks.identifiers.0.namespace"
    )


def test_the_rules_of_a_user_count_too(tmp_path: Path) -> None:
    """Otherwise an alias would open the namespace of another dataset."""
    file = tmp_path / "naming.toml"
    file.write_text('[aliases]\n"team-a" = "theirs"\n')
    event = {"dataset": {"namespace": "team-a", "name": "d"}}
    assert foreign(TEAM, event) == ""
    with pytest.raises(ForeignEventError):
        authorize_event(TEAM, json.dumps(event).encode(), Naming(read_rules(file)))


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (
            (
                '{"job": {"namespace": "team-a", "name": "j"}, "job": {"namespace": "theirs", '
                '"name": "j"}}'
            ),
            "job.namespace",
        ),
        (
            (
                '{"job": {"namespace": "theirs", "name": "j"}, "job": {"namespace": "team-a", '
                '"name": "j"}}'
            ),
            "",
        ),
        ('{"job": {"namespace": "team-a", "namespace": "theirs", "name": "j"}}', "job.namespace"),
        ('\ufeff{"job": {"namespace": "team-a", "name": "j"}}', ""),
        ('\ufeff{"job": {"namespace": "theirs", "name": "j"}}', "job.namespace"),
        ('{"job": {"namespace": "team-a", "name": "half \\ud800"}}', ""),
        ('{"job": {"namespace": "theirs", "name": "half \\ud800"}}', "job.namespace"),
        ('{"job": {"namespace": "team-a\\u0000theirs", "name": "j"}}', ""),
        ('{"job": {"namespace": " team-a", "name": "j"}}', "job.namespace"),
        ('{"job": {"namespace": "theirs\\nteam-a", "name": "j"}}', "job.namespace"),
        (
            '{"JOB": {"namespace": "team-a"}, "job": {"namespace": "theirs", "name": "j"}}',
            "job.namespace",
        ),
        # A facet with `_deleted` separates names.
        (READING % ("theirs", '{"_deleted": true}'), "inputs.0.namespace"),
        (
            READING
            % (
                "team-a",
                '{"identifiers": [], "identifiers": [{"namespace": "theirs", "name": "d"}]}',
            ),
            TWIN,
        ),
        # The names in an unreadable facet are unknown.
        (
            READING
            % ("team-a", '{"identifiers": [{"namespace": "team-a", "name": "d", "n": 1e999}]}'),
            "inputs.0",
        ),
    ],
)
def test_the_body_is_read_as_the_worker_reads_it(event: str, field: str) -> None:
    blamed = ""
    try:
        authorize_event(TEAM, event.encode(), load_naming())
    except ForeignEventError as refusal:
        blamed = refusal.field
    assert blamed == field


def test_nobody_edits_in_the_name_of_another_key() -> None:
    def edit(by: str | None) -> dict[str, Any]:
        return native.owner_edits_event("team-a", "d", added=["x"], by=by)

    field = "dataset.facets.headwater_edits.by.name"
    assert foreign(STEWARD, edit("steward")) == ""
    assert foreign(STEWARD, edit(None)) == ""
    assert foreign(STEWARD, edit("ann")) == field
    # A key that may do everything may not do that either, in no spelling of JSON.
    assert foreign(ANONYMOUS, edit("ann")) == field
    body = json.dumps(edit("ann")).replace("headwater_edits", "headwater\\u005fedits").encode()
    assert json.loads(body) == edit("ann") | {"eventTime": json.loads(body)["eventTime"]}
    with pytest.raises(ForeignEventError, match="may not edit as 'ann'"):
        authorize_event(ANONYMOUS, body, load_naming())


@pytest.mark.parametrize("principal", [WIDE, TEAM])
def test_only_stewards_edit(principal: Principal) -> None:
    for event, facet in (
        (native.description_edit_event("team-a", "d", "x"), "headwater_edits"),
        (native.deprecation_event("team-a", "d", reason="x"), "headwater_edits"),
        (native.approval_event("team-a", "d", policy="p", reason="x"), "headwater_edits"),
        (native.deletion_event("team-a", "d", is_job=True), "headwater_deletion"),
    ):
        described = "job" if "job" in event else "dataset"
        assert foreign(principal, event) == f"{described}.facets.{facet}"
        assert foreign(STEWARD, event) == ""


SCHEMA = {"schema": {**FACET, "fields": [{"name": "a", "type": "int"}]}}
VERSION = {"version": {**FACET, "datasetVersion": "7"}}
ORIGINS = {"columnLineage": {**FACET, "fields": {}}}
DESCRIBING = {
    **SCHEMA,
    "documentation": {**FACET, "description": "taken over", "contentType": "text"},
    "ownership": {**FACET, "owners": [{"name": "me"}]},
    "lifecycleStateChange": {**FACET, "lifecycleStateChange": "DROP"},
    "dataSource": {**FACET, "name": "x", "uri": "x://"},
    "tags": {**FACET, "tags": [{"key": "certified", "value": "true", "source": "me"}]},
    "my_facet": FACET,
}


def with_facets(namespace: str, **facets: Any) -> dict[str, Any]:
    uses = {"inputFacets": {"inputStatistics": {**FACET, "rowCount": 3}}}
    return {"namespace": namespace, "name": "d", "facets": facets, **uses}


def stored(principal: Principal, event: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        own_facets_only(principal, json.dumps(event).encode(), load_naming())
    )
    return found


def test_a_key_describes_only_the_datasets_that_it_covers() -> None:
    event = run(
        inputs=[
            with_facets("theirs", **DESCRIBING, **VERSION, **ORIGINS),
            with_facets("team-a", **DESCRIBING, **ORIGINS),
        ],
        outputs=[
            with_facets("theirs", **DESCRIBING, **VERSION, **ORIGINS),
            with_facets("s3://lake", **SCHEMA),
        ],
    )
    # Where the data of an input comes from is nothing that the run did.
    expected = run(
        inputs=[
            with_facets("theirs", **VERSION),
            with_facets("team-a", **DESCRIBING, **ORIGINS),
        ],
        outputs=[
            with_facets("theirs", **VERSION, **ORIGINS),
            with_facets("s3://lake", **SCHEMA),
        ],
    )
    assert stored(TEAM, event) == expected
    assert stored(STEWARD, event) == expected
    assert stored(WIDE, event) == event
    assert stored(ANONYMOUS, event) == event


def test_a_key_does_not_judge_datasets_that_it_does_not_cover() -> None:
    checks = {
        "dataQualityAssertions": {**FACET, "assertions": [{"assertion": "a", "success": False}]},
        "dataQualityMetrics": {**FACET, "rowCount": 0, "columnMetrics": {}},
    }
    statistics = {"inputStatistics": {**FACET, "rowCount": 3}}
    judged = {"name": "d", "inputFacets": {**checks, **statistics}, "outputFacets": checks}
    event = run(
        inputs=[{"namespace": "theirs", **judged}, {"namespace": "team-a", **judged}],
        outputs=[{"namespace": "theirs", "name": "d", "outputFacets": checks}],
    )
    kept = stored(TEAM, event)
    assert kept["inputs"][0]["inputFacets"] == statistics
    assert kept["inputs"][0]["outputFacets"] == {}
    assert kept["inputs"][1] == {"namespace": "team-a", **judged}
    assert kept["outputs"][0]["outputFacets"] == {}
    assert stored(WIDE, event) == event


def test_an_event_that_describes_nothing_foreign_stays_as_it_was_sent() -> None:
    event = run(inputs=[with_facets("theirs", **VERSION), with_facets("team-a", **DESCRIBING)])
    body = json.dumps(event, indent=3).encode()
    assert own_facets_only(TEAM, body, load_naming()) is body


def test_another_spelling_of_a_namespace_describes_nothing_either() -> None:
    """The facets of an object in a foreign bucket, whose namespace is written as a path."""
    event = run(inputs=[{"namespace": "s3://other/", "name": "d", "facets": SCHEMA}])
    assert stored(TEAM, event)["inputs"][0]["facets"] == {}


def test_a_facet_that_stands_twice_is_removed_twice() -> None:
    text = json.dumps(run(inputs=[with_facets("theirs")]))
    twice = text.replace('"facets": {}', f'"facets": {{}}, "facets": {json.dumps(SCHEMA)}')
    kept = json.loads(own_facets_only(TEAM, twice.encode(), load_naming()))
    assert kept["inputs"][0]["facets"] == {}


@pytest.mark.parametrize("value", ["1e999", "9" * 5_000, '"\\ud800"'])
def test_values_that_python_cannot_hold_stop_no_rewrite(value: str) -> None:
    facets = {"schema": SCHEMA["schema"], "own": {**FACET, "v": "VALUE"}}
    event = run(inputs=[with_facets("theirs", **facets), with_facets("team-a", **facets)])
    body = json.dumps(event).replace('"VALUE"', value).encode()
    kept = own_facets_only(TEAM, body, load_naming())
    expected = value.encode() if value[0] != '"' else '"\ufffd"'.encode()
    assert kept.count(b'"v":' + expected) == 1
