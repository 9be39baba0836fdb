"""How bad one change is for one reader, on each kind of evidence."""

from __future__ import annotations

import pytest

from headwater.impact.model import Consumer, Effect, PropagatedChange
from headwater.impact.severity import classify_writer
from tests.impact.model_builders import build_model, change, consumer, severities, table
from tests.run_builders import ds, job

T, O = table("t", "id", "x"), table("o")  # noqa: E741


def severity(reader: Consumer, kind: Effect = "renamed", column: str = "x") -> str | None:
    return severities(change(build_model([T, O], {"t": [reader]}), "t", column, kind)).get("j")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select x from t", "breaking"),
        ("select id from t where x > 1", "breaking"),
        ("select id from t", None),
        ("select * from t", "warning"),
        ("with c as (select * from t) select id from c", None),
        ("insert into o select * from t", "warning"),
        ("select * from t union all select * from o", "warning"),
        ("select x from t join o on t.id = o.id", "warning"),
        ("no sql !!", "unknown"),
        (None, "unknown"),
        # By the lineage graph it reads t, but its code does not.
        ("select x from elsewhere", "unknown"),
    ],
)
def test_a_renamed_column(sql: str | None, expected: str | None) -> None:
    assert severity(consumer("j", "o", sql=sql)) == expected


@pytest.mark.parametrize(
    "sql", ["insert into o select * from t", "select * from t union all select * from o"]
)
def test_a_dropped_column_breaks_a_star_by_position(sql: str) -> None:
    assert severity(consumer("j", "o", sql=sql), "gone") == "breaking"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("gone", "breaking"),
        ("narrowed", "breaking"),
        ("widened", "warning"),
        ("redefined", "warning"),
    ],
)
def test_a_reference_has_the_severity_of_the_effect(kind: Effect, expected: str) -> None:
    assert severity(consumer("j", "o", sql="select x from t"), kind) == expected
    assert severity(consumer("j", "o", sql="select id from t"), kind) is None


@pytest.mark.parametrize(
    ("sql", "nullable", "required"),
    [
        ("select id from t", None, None),
        ("select * from t", None, "warning"),
        ("select * from t union all select * from o", "breaking", "breaking"),
        (None, None, "warning"),
    ],
)
def test_a_new_column(sql: str | None, nullable: str | None, required: str | None) -> None:
    assert severity(consumer("j", "o", sql=sql), "added", "fresh") == nullable
    assert severity(consumer("j", "o", sql=sql), "added_required", "fresh") == required


def test_a_column_edge_shows_a_reference_without_code() -> None:
    model = build_model(
        [T, O], {"t": [consumer("j", "o")]}, {("t", "x"): [("j", "o", "y", "DIRECT:IDENTITY")]}
    )
    hit = change(model, "t", "x").affected[job("j")]
    assert hit.severity == "breaking"
    (evidence,) = hit.evidence
    assert (evidence.kind, evidence.path) == ("COLUMN_PATH", ("column:db:t:x", "column:db:o:y"))


def test_an_edge_of_another_job_shows_nothing() -> None:
    model = build_model(
        [T, O], {"t": [consumer("j", "o")]}, {("t", "x"): [("other", "o", "y", "DIRECT:IDENTITY")]}
    )
    assert severities(change(model, "t", "x")) == {"j": "unknown"}


@pytest.mark.parametrize("kind", ["widened", "redefined"])
def test_a_change_that_can_break_nothing_is_never_unknown(kind: Effect) -> None:
    assert severity(consumer("j", "o"), kind) == "warning"


def test_complete_column_lineage_rules_a_reference_out() -> None:
    assert severity(consumer("j", "o", covered=True)) is None
    assert severity(consumer("j", "o", sql="no sql !!", covered=True)) is None


def test_a_star_is_no_reference_though_column_lineage_goes_through_it() -> None:
    reader = consumer("j", "o", sql="create table o as select * from t")
    model = build_model([T, O], {"t": [reader]}, {("t", "x"): [("j", "o", "x", "DIRECT:IDENTITY")]})
    assert severities(change(model, "t", "x")) == {"j": "warning"}


def test_the_evidence_of_code_is_its_line() -> None:
    model = build_model([T, O], {"t": [consumer("j", "o", sql="select id,\n  x as y\nfrom t")]})
    (evidence,) = change(model, "t", "x").affected[job("j")].evidence
    assert (evidence.kind, evidence.line, evidence.text) == ("SQL_LINE", 2, "x as y")


def test_a_bare_name_that_may_be_another_place_is_not_sure() -> None:
    raw, staged = table("raw.orders"), table("staging.orders")
    reader = consumer("j", sql="select x from orders")
    model = build_model([raw, staged], {"raw.orders": [reader], "staging.orders": [reader]})
    assert severities(change(model, "raw.orders", "x")) == {"j": "warning"}
    alone = build_model([raw, staged], {"raw.orders": [reader]})
    assert severities(change(alone, "raw.orders", "x")) == {"j": "breaking"}


@pytest.mark.parametrize(
    ("sql", "kind", "expected"),
    [
        ("insert into t select id from s", "added_required", "breaking"),
        ("insert into t select id from s", "added", "warning"),
        ("insert into t (id) select id from s", "added_required", "warning"),
        ("insert into t (id) select id from s", "added", None),
        ("create table t as select id from s", "added_required", None),
        (None, "added_required", "warning"),
        (None, "added", None),
        ("insert into t (id, x) select id, x from s", "gone", "breaking"),
        ("insert into t (id, x) select id, x from s", "renamed", "breaking"),
        ("insert into t (id, x) select id, x from s", "narrowed", "breaking"),
        ("insert into t (id) select id from s", "renamed", None),
        ("insert into t select * from s", "gone", "breaking"),
        ("insert into t select * from s", "renamed", None),
        ("update t set x = 1", "renamed", "breaking"),
        ("insert into other (x) select x from s", "renamed", None),
    ],
)
def test_writers(sql: str | None, kind: Effect, expected: str | None) -> None:
    assert (
        classify_writer(
            consumer("j", "t", sql=sql), PropagatedChange(ds("t"), "x", kind), T
        ).severity
        == expected
    )
