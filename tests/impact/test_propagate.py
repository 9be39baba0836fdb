"""How far a change reaches, through chains, cycles and doubt; and laws that hold on any scene."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.impact.model import Consumer, DependencyModel
from tests.impact.model_builders import build_model, change, place, reads, severities
from tests.run_builders import ds, job

A, B, C, D = (place(name) for name in "abcd")


def test_a_star_passes_a_rename_on() -> None:
    scene = build_model(
        [A, B, C],
        {
            "a": [reads("copy", "b", sql="create table b as select * from a")],
            "b": [
                reads("names", "c", sql="select x from b"),
                reads("other", sql="select y from b"),
            ],
            "c": [reads("last", sql="select x from c")],
        },
    )
    assert severities(change(scene, "a", "x")) == {
        "copy": "warning",
        "names": "breaking",
        "last": "breaking",
    }


def test_a_column_is_followed_under_its_new_name() -> None:
    scene = build_model(
        [A, B, C],
        {
            "a": [reads("one", "b", sql="create table b as select x as y, k as x from a")],
            "b": [reads("uses", "c", sql="select y from b"), reads("not", sql="select x from b")],
        },
    )
    found = change(scene, "a", "x")
    assert severities(found) == {"one": "breaking", "uses": "breaking"}
    assert list(found.affected[job("uses")].references) == [(ds("b"), "y")]
    assert found.affected[job("uses")].distance == 2


def test_a_filter_column_affects_all_outputs() -> None:
    scene = build_model(
        [A, place("b", "k"), C],
        {
            "a": [reads("filters", "b", sql="create table b as select k from a where x > 1")],
            "b": [reads("uses", sql="select k from b")],
        },
    )
    assert severities(change(scene, "a", "x")) == {"filters": "breaking", "uses": "breaking"}


def test_an_edge_to_a_dataset_is_one_to_each_of_its_columns() -> None:
    scene = build_model(
        [A, place("b", "k"), C],
        {"a": [reads("filters", "b")], "b": [reads("uses", sql="select k from b")]},
        {("a", "x"): [("filters", "b", None, "INDIRECT:FILTER")]},
    )
    found = change(scene, "a", "x")
    assert severities(found) == {"filters": "breaking", "uses": "breaking"}
    assert list(found.affected[job("uses")].references) == [(ds("b"), "k")]


def test_a_reader_of_dependent_rows_breaks_only_if_it_names_a_column() -> None:
    scene = build_model(
        [A, place("b", "k"), C],
        {
            "a": [reads("filters", "b", "c")],
            "b": [reads("blind")],
            "c": [reads("names", sql="select z from c")],
        },
        {
            ("a", "x"): [
                ("filters", "b", None, "INDIRECT:FILTER"),
                ("filters", "c", None, "INDIRECT:FILTER"),
            ]
        },
    )
    found = change(scene, "a", "x")
    assert severities(found) == {"filters": "breaking", "blind": "warning", "names": "breaking"}
    # Which of the columns it would be, nobody knows.
    assert list(found.affected[job("blind")].references) == []


def test_doubt_is_passed_on() -> None:
    scene = build_model(
        [A, B, C], {"a": [reads("blind", "b")], "b": [reads("uses", "c", sql="select x from b")]}
    )
    assert severities(change(scene, "a", "x")) == {"blind": "warning", "uses": "warning"}


def test_a_type_is_narrow_only_as_long_as_it_is_handed_on_unchanged() -> None:
    scene = build_model(
        [A, B, C, D],
        {
            "a": [reads("same", "b", sql="create table b as select x from a")],
            "b": [reads("made", "c", sql="create table c as select sum(x) as s from b")],
            "c": [reads("last", "d", sql="select s from c")],
        },
    )
    found = change(scene, "a", "x", "narrowed")
    assert severities(found) == {"same": "breaking", "made": "breaking", "last": "warning"}


def test_a_dropped_table_breaks_its_readers_and_derived_columns() -> None:
    scene = build_model(
        [place("a", "x"), place("b", "y"), C, D],
        {
            "a": [
                reads("shown", "b", sql="create table b as select x as y from a"),
                reads("blind", "c"),
            ],
            "b": [reads("of_shown", sql="select y from b")],
            "c": [reads("of_blind", sql="select z from c")],
        },
    )
    assert severities(change(scene, "a", kind="gone")) == {
        "shown": "breaking",
        "blind": "breaking",
        "of_shown": "breaking",
        "of_blind": "warning",
    }


def test_stale_data_is_a_warning() -> None:
    scene = build_model(
        [A, B, C],
        {
            "a": [reads("one", "b", sql="select x from a")],
            "b": [reads("two", sql="select x from b")],
        },
    )
    assert severities(change(scene, "a", kind="stale")) == {"one": "warning", "two": "warning"}


def test_cycles_end() -> None:
    scene = build_model(
        [A, B],
        {
            "a": [reads("there", "b", sql="select x from a")],
            "b": [reads("back", "a", sql="select x from b")],
        },
    )
    assert severities(change(scene, "a", "x")) == {"there": "breaking", "back": "breaking"}


def test_a_hidden_job_adds_no_distance() -> None:
    scene = build_model(
        [A, B, C],
        {
            "a": [reads("secret", "b", sql="select x from a", hidden=True)],
            "b": [reads("seen", sql="select x from b")],
        },
    )
    assert change(scene, "a", "x").affected[job("seen")].distance == 1


def test_a_timeout_is_reported() -> None:
    from headwater.impact.model import PropagatedChange
    from headwater.impact.propagate import propagate

    scene = build_model([A], {"a": [reads("one", sql="select x from a")]})
    assert (
        propagate(scene, [PropagatedChange(ds("a"), "x", "gone")], time.monotonic() - 1).truncated
        == "time"
    )


NAMES = ("p0", "p1", "p2", "p3", "p4", "p5")
COLUMNS = ("a", "b", "c")


@st.composite
def scenes(draw: st.DrawFn) -> tuple[DependencyModel, dict[str, list[Consumer]]]:
    """Return jobs that each make a table of an earlier one; none names the column `zz`."""
    readers: dict[str, list[Consumer]] = {}
    for number, name in enumerate(NAMES[1:], start=1):
        for source in draw(st.sets(st.sampled_from(NAMES[:number]), max_size=2)):
            wanted = draw(
                st.one_of(
                    st.just("*"),
                    st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2).map(", ".join),
                )
            )
            verb = draw(st.sampled_from([f"create table {name} as ", f"insert into {name} ", ""]))
            clause = draw(
                st.sampled_from(["", " where a > 1", " union all select * from elsewhere"])
            )
            sql = draw(st.sampled_from([f"{verb}select {wanted} from {source}{clause}", None]))
            readers.setdefault(source, []).append(reads(f"{source}_{name}", name, sql=sql))
    known = draw(st.booleans())
    places = [place(name, *((*COLUMNS, "zz") if known else ())) for name in NAMES]
    return build_model(places, readers), readers


@settings(max_examples=60, deadline=None)
@given(scenes())
def test_renaming_an_unused_column_breaks_nothing(
    made: tuple[DependencyModel, dict[str, list[Consumer]]],
) -> None:
    scene, _ = made
    found = change(scene, "p0", "zz")
    assert "breaking" not in severities(found).values()


@settings(max_examples=60, deadline=None)
@given(
    scenes(),
    st.sampled_from(NAMES),
    st.sampled_from([None, "select a from {}", "select * from {}"]),
)
def test_another_consumer_does_not_change_a_severity(
    made: tuple[DependencyModel, dict[str, list[Consumer]]], where: str, sql: str | None
) -> None:
    scene, readers = made
    more = {name: list(listed) for name, listed in readers.items()}
    more.setdefault(where, []).append(reads("another", sql=sql.format(where) if sql else None))
    wider = build_model(scene.tables.values(), more)
    for kind in ("renamed", "gone"):
        before, after = change(scene, "p0", "a", kind), change(wider, "p0", "a", kind)
        others = {name: one for name, one in severities(after).items() if name != "another"}
        assert others == severities(before)


@settings(max_examples=60, deadline=None)
@given(scenes())
def test_a_drop_is_never_better_than_a_rename(
    made: tuple[DependencyModel, dict[str, list[Consumer]]],
) -> None:
    scene, _ = made
    renamed, dropped = (
        severities(change(scene, "p0", "a")),
        severities(change(scene, "p0", "a", "gone")),
    )
    assert renamed.keys() <= dropped.keys()
    assert all(dropped[name] == "breaking" for name, one in renamed.items() if one == "breaking")
