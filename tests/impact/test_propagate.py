"""How far a change reaches, through chains, cycles and doubt; and laws that hold on any model."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.code_analysis.model import References, unknown_references
from headwater.impact import propagate as module
from headwater.impact.model import CHANGES_MAX, Consumer, DependencyModel, PropagatedChange
from headwater.impact.report import EVIDENCE_MAX
from tests.impact.model_builders import build_model, change, consumer, severities, table
from tests.run_builders import ds, job

A, B, C, D = (table(name) for name in "abcd")


def test_a_star_passes_a_rename_on() -> None:
    model = build_model(
        [A, B, C],
        {
            "a": [consumer("copy", "b", sql="create table b as select * from a")],
            "b": [
                consumer("names", "c", sql="select x from b"),
                consumer("other", sql="select y from b"),
            ],
            "c": [consumer("last", sql="select x from c")],
        },
    )
    assert severities(change(model, "a", "x")) == {
        "copy": "warning",
        "names": "breaking",
        "last": "breaking",
    }


def test_a_column_is_followed_under_its_new_name() -> None:
    model = build_model(
        [A, B, C],
        {
            "a": [consumer("one", "b", sql="create table b as select x as y, k as x from a")],
            "b": [
                consumer("uses", "c", sql="select y from b"),
                consumer("not", sql="select x from b"),
            ],
        },
    )
    found = change(model, "a", "x")
    assert severities(found) == {"one": "breaking", "uses": "breaking"}
    assert list(found.affected[job("uses")].references) == [(ds("b"), "y")]
    assert found.affected[job("uses")].distance == 2


def test_a_filter_column_affects_all_outputs() -> None:
    model = build_model(
        [A, table("b", "k"), C],
        {
            "a": [consumer("filters", "b", sql="create table b as select k from a where x > 1")],
            "b": [consumer("uses", sql="select k from b")],
        },
    )
    assert severities(change(model, "a", "x")) == {"filters": "breaking", "uses": "breaking"}


def test_an_edge_to_a_dataset_is_one_to_each_of_its_columns() -> None:
    model = build_model(
        [A, table("b", "k"), C],
        {"a": [consumer("filters", "b")], "b": [consumer("uses", sql="select k from b")]},
        {("a", "x"): [("filters", "b", None, "INDIRECT:FILTER")]},
    )
    found = change(model, "a", "x")
    assert severities(found) == {"filters": "breaking", "uses": "breaking"}
    assert list(found.affected[job("uses")].references) == [(ds("b"), "k")]


def test_a_reader_of_dependent_rows_breaks_only_if_it_names_a_column() -> None:
    model = build_model(
        [A, table("b", "k"), C],
        {
            "a": [consumer("filters", "b", "c")],
            "b": [consumer("blind")],
            "c": [consumer("names", sql="select z from c")],
        },
        {
            ("a", "x"): [
                ("filters", "b", None, "INDIRECT:FILTER"),
                ("filters", "c", None, "INDIRECT:FILTER"),
            ]
        },
    )
    found = change(model, "a", "x")
    assert severities(found) == {"filters": "breaking", "blind": "unknown", "names": "breaking"}
    # The evidence does not name the columns that it would be.
    assert list(found.affected[job("blind")].references) == []


def test_doubt_is_passed_on() -> None:
    model = build_model(
        [A, B, C],
        {"a": [consumer("blind", "b")], "b": [consumer("uses", "c", sql="select x from b")]},
    )
    assert severities(change(model, "a", "x")) == {"blind": "unknown", "uses": "unknown"}


def test_a_type_is_narrow_only_as_long_as_it_is_handed_on_unchanged() -> None:
    model = build_model(
        [A, B, C, D],
        {
            "a": [consumer("same", "b", sql="create table b as select x from a")],
            "b": [consumer("made", "c", sql="create table c as select sum(x) as s from b")],
            "c": [consumer("last", "d", sql="select s from c")],
        },
    )
    found = change(model, "a", "x", "narrowed")
    assert severities(found) == {"same": "breaking", "made": "breaking", "last": "warning"}


def test_a_dropped_table_breaks_its_readers_and_derived_columns() -> None:
    model = build_model(
        [table("a", "x"), table("b", "y"), C, D],
        {
            "a": [
                consumer("shown", "b", sql="create table b as select x as y from a"),
                consumer("blind", "c"),
            ],
            "b": [consumer("of_shown", sql="select y from b")],
            "c": [consumer("of_blind", sql="select z from c")],
        },
    )
    assert severities(change(model, "a", kind="gone")) == {
        "shown": "breaking",
        "blind": "breaking",
        "of_shown": "breaking",
        "of_blind": "warning",
    }


def test_stale_data_is_a_warning() -> None:
    model = build_model(
        [A, B, C],
        {
            "a": [consumer("one", "b", sql="select x from a")],
            "b": [consumer("two", sql="select x from b")],
        },
    )
    assert severities(change(model, "a", kind="stale")) == {"one": "warning", "two": "warning"}


def test_cycles_end() -> None:
    model = build_model(
        [A, B],
        {
            "a": [consumer("there", "b", sql="select x from a")],
            "b": [consumer("back", "a", sql="select x from b")],
        },
    )
    assert severities(change(model, "a", "x")) == {"there": "breaking", "back": "breaking"}


def test_a_hidden_job_adds_no_distance() -> None:
    model = build_model(
        [A, B, C],
        {
            "a": [consumer("secret", "b", sql="select x from a", hidden=True)],
            "b": [consumer("seen", sql="select x from b")],
        },
    )
    assert change(model, "a", "x").affected[job("seen")].distance == 1


def test_a_timeout_is_reported() -> None:
    model = build_model([A], {"a": [consumer("one", sql="select x from a")]})
    assert (
        module.propagate(
            model, [PropagatedChange(ds("a"), "x", "gone")], time.monotonic() - 1
        ).truncated
        == "time"
    )


def test_the_deadline_ends_a_layer_between_two_consumers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the code of each consumer takes seconds."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def read_slowly() -> References:
        clock.now += 6.0
        return unknown_references("slow")

    readers = [Consumer(job(f"j{number}"), load_code=read_slowly) for number in range(120)]
    model = build_model([A], {"a": readers})
    found = module.propagate(model, [PropagatedChange(ds("a"), "x", "gone")], 20.0)
    assert (found.truncated, len(found.affected), clock.now) == ("time", 4, 24.0)


def test_code_with_many_flows_into_many_outputs_cuts_an_assessment_short() -> None:
    columns = ", ".join(f"x as c{number}" for number in range(300))
    outputs = [f"o{number}" for number in range(300)]
    writer = consumer("j", *outputs, sql=f"select {columns} from a")
    found = change(build_model([A, *map(table, outputs)], {"a": [writer]}), "a", "x")
    assert found.truncated == "nodes"
    assert len(found.changes) == CHANGES_MAX + 2, "the change, and one more than the bound"
    assert found.affected[job("j")].severity == "breaking"


def test_the_evidence_of_an_asset_is_bounded() -> None:
    lines = ",\n".join(f"x as c{number}" for number in range(100))
    reader = consumer("j", sql=f"select {lines} from a")
    found = change(build_model([A], {"a": [reader]}), "a", "x")
    evidence = [(one.kind, one.line) for one in found.affected[job("j")].evidence]
    assert evidence == [("SQL_LINE", line) for line in range(1, EVIDENCE_MAX + 1)]


NAMES = ("p0", "p1", "p2", "p3", "p4", "p5")
COLUMNS = ("a", "b", "c")


@st.composite
def models(draw: st.DrawFn) -> tuple[DependencyModel, dict[str, list[Consumer]]]:
    """Return jobs that each make a table of an earlier one; none names the column `zz`."""
    readers: dict[str, list[Consumer]] = {}
    for number, name in enumerate(NAMES[1:], start=1):
        for source in draw(st.sets(st.sampled_from(NAMES[:number]), max_size=2)):
            sources = draw(
                st.one_of(
                    st.just("*"),
                    st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2).map(", ".join),
                )
            )
            verb = draw(st.sampled_from([f"create table {name} as ", f"insert into {name} ", ""]))
            clause = draw(
                st.sampled_from(["", " where a > 1", " union all select * from elsewhere"])
            )
            sql = draw(st.sampled_from([f"{verb}select {sources} from {source}{clause}", None]))
            readers.setdefault(source, []).append(consumer(f"{source}_{name}", name, sql=sql))
    is_known = draw(st.booleans())
    tables = [table(name, *((*COLUMNS, "zz") if is_known else ())) for name in NAMES]
    return build_model(tables, readers), readers


@settings(max_examples=60, deadline=None)
@given(models())
def test_renaming_an_unused_column_breaks_nothing(
    sample: tuple[DependencyModel, dict[str, list[Consumer]]],
) -> None:
    model, _ = sample
    found = change(model, "p0", "zz")
    assert "breaking" not in severities(found).values()


@settings(max_examples=60, deadline=None)
@given(
    models(),
    st.sampled_from(NAMES),
    st.sampled_from([None, "select a from {}", "select * from {}"]),
)
def test_another_consumer_does_not_change_a_severity(
    sample: tuple[DependencyModel, dict[str, list[Consumer]]], where: str, sql: str | None
) -> None:
    model, readers = sample
    more = {name: list(listed) for name, listed in readers.items()}
    more.setdefault(where, []).append(consumer("another", sql=sql.format(where) if sql else None))
    wider = build_model(model.tables.values(), more)
    for kind in ("renamed", "gone"):
        before, after = change(model, "p0", "a", kind), change(wider, "p0", "a", kind)
        others = {name: one for name, one in severities(after).items() if name != "another"}
        assert others == severities(before)


@settings(max_examples=60, deadline=None)
@given(models())
def test_a_drop_is_never_better_than_a_rename(
    sample: tuple[DependencyModel, dict[str, list[Consumer]]],
) -> None:
    model, _ = sample
    renamed, dropped = (
        severities(change(model, "p0", "a")),
        severities(change(model, "p0", "a", "gone")),
    )
    assert renamed.keys() <= dropped.keys()
    assert all(dropped[name] == "breaking" for name, one in renamed.items() if one == "breaking")
