"""A timeline finds the versions of an instant like the graph, or returns None."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.write.version_timeline import TIMELINE_MAX, Timeline, Version, read_timeline

START = datetime(2026, 1, 1, tzinfo=UTC)


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


def version(name: str, created: int, *, started: int = 0, complete: bool = True) -> Version:
    return Version(minute(created), f"artifact:{name}", f"run:{name}", minute(started), complete)


def test_the_newest_complete_version_and_the_newest_incomplete_one_after_it() -> None:
    made = [
        version("a", 10),
        version("b", 20),
        version("left", 30, complete=False),
        version("later", 40, complete=False),
    ]
    timeline = Timeline(made, None)
    assert timeline.at(minute(35), "run:x") == ["artifact:b", "artifact:left"]
    assert timeline.at(minute(45), "run:x") == ["artifact:b", "artifact:later"]
    assert timeline.at(minute(15), "run:x") == ["artifact:a"]
    # A run does not read its own output.
    assert timeline.at(minute(25), "run:b") == ["artifact:a"]


def test_without_an_earlier_version_the_first_unfinished_one_is_linked() -> None:
    timeline = Timeline([version("slow", 50, started=5), version("slower", 60, started=1)], None)
    assert timeline.at(minute(10), "run:x") == ["artifact:slow"]
    assert timeline.at(minute(10), "run:slow") == ["artifact:slower"]
    assert timeline.at(minute(0), "run:x") == []


def test_an_instant_before_the_cached_versions_has_no_result() -> None:
    newest = [tuple(version(str(number), number)) for number in range(100, 100 - TIMELINE_MAX, -1)]
    timeline = read_timeline(newest, [])
    oldest = 100 - TIMELINE_MAX + 1
    assert timeline.at(minute(100), "run:x") == ["artifact:100"]
    assert timeline.at(minute(oldest), "run:x") is None
    assert timeline.at(minute(oldest + 1), "run:x") == [f"artifact:{oldest + 1}"]


def test_fewer_versions_than_requested_are_the_whole_timeline() -> None:
    timeline = read_timeline([tuple(version("a", 10, started=8))], [])
    assert timeline.at(minute(5), "run:x") == []


def test_a_withdrawn_or_moved_version_leaves_its_old_instant() -> None:
    timeline = Timeline([version("a", 10), version("b", 20)], None)
    timeline.put(version("b", 5))
    assert timeline.at(minute(30), "run:x") == ["artifact:a"]
    timeline.drop("artifact:a")
    assert timeline.at(minute(30), "run:x") == ["artifact:b"]


changes = st.lists(
    st.tuples(
        st.integers(0, 12), st.integers(0, 30), st.integers(0, 30), st.booleans(), st.booleans()
    ),
    max_size=60,
)


@given(changes, st.integers(0, 31))
def test_a_cached_timeline_equals_one_of_all_versions(
    versions: list[tuple[int, int, int, bool, bool]], instant: int
) -> None:
    bounded = Timeline([], None)
    by_urn: dict[str, Version] = {}
    for name, created, started, complete, is_dropped in versions:
        one = version(f"{name:02}", created, started=min(started, created), complete=complete)
        if is_dropped:
            bounded.drop(one.urn)
            by_urn.pop(one.urn, None)
        else:
            bounded.put(one)
            by_urn[one.urn] = one
    found = bounded.at(minute(instant), "run:03")
    assert found is None or found == Timeline(list(by_urn.values()), None).at(
        minute(instant), "run:03"
    )


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=40), st.integers(0, 12))
def test_the_versions_around_an_instant_are_those_of_a_search(
    made: list[tuple[int, bool]], at: int
) -> None:
    versions = [
        version(f"{number:02d}", created, complete=complete)
        for number, (created, complete) in enumerate(made)
    ]
    timeline = Timeline([], None)
    for one in versions:
        timeline.put(one)
    found = timeline.around(minute(at))
    complete = sorted(one for one in versions if one.complete)
    before = [one.created for one in complete if one.created < minute(at)]
    after = [one.created for one in complete if one.created > minute(at)]
    if found is None:
        assert len(versions) > TIMELINE_MAX
        return
    first = max(before, default=minute(-1))
    last = min(after, default=minute(99))
    assert found == sorted(one for one in versions if first <= one.created <= last)


def test_a_replaced_version_keeps_its_link() -> None:
    timeline = Timeline([version("a", 10), version("b", 20, complete=False)], None)
    timeline.set_kept("artifact:b", "artifact:a")
    timeline.put(version("b", 30))
    found = timeline.around(minute(30))
    assert found is not None
    assert [one.kept for one in found] == ["", "artifact:a"]
