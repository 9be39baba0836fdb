"""Events without a usable time: ordered by their first receipt, whatever their copies."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.fold.undated_events import fold_received, fold_undated, is_undated
from headwater.schema.delta import GraphDelta, join
from headwater.schema.events import parse, parse_instant
from headwater.schema.naming import load_naming
from tests.ingest.fold.folded_events import AT, NOON, run_event

SECOND = 1_000_000
FUTURE_SECONDS = 60
NEVER = "2099-01-01T00:00:00Z"


def body_of(event_time: str | None = NOON, state: str = "FAIL", **more: Any) -> bytes:
    event = {**run_event(state, **more), "eventTime": event_time}
    return json.dumps({key: value for key, value in event.items() if value is not None}).encode()


def received(*pairs: tuple[bytes, int], **options: Any) -> GraphDelta:
    """Fold bodies with their receipts, in seconds after noon."""
    events = [(parse(body, received=AT + at * SECOND), body) for body, at in pairs]
    return fold_received(events, future_seconds=FUTURE_SECONDS, **options)


def states(delta: GraphDelta) -> set[tuple[int, str]]:
    """Return the states of the run in seconds after noon, with undated events folded."""
    whole = join(delta, fold_undated(delta.undated, load_naming()))
    run = whole.runs["run:r"]
    return {((instant - AT) // SECOND, state) for instant, state in run.states}


@pytest.mark.parametrize(
    ("event_time", "receipt", "undated"),
    [
        (NOON, 0, False),
        (NOON, -60, False),
        (NOON, -61, True),
        (NOON, 10**6, False),
        (NEVER, 0, True),
        (None, 0, True),
    ],
)
def test_the_limit_is_that_of_the_setting(
    event_time: str | None, receipt: int, undated: bool
) -> None:
    event = parse(body_of(event_time), received=AT + receipt * SECOND)
    assert is_undated(event, FUTURE_SECONDS) is undated


def test_an_event_from_the_future_has_the_time_of_its_receipt() -> None:
    delta = received((body_of(state="START"), 0), (body_of(NEVER), 10))
    assert states(delta) == {(0, "START"), (10, "FAIL")}
    assert list(delta.runs) == ["run:r"], "the dated event is folded at once"
    (undated,) = delta.undated.values()
    assert undated.event_instant == parse_instant(NEVER)


def test_of_copies_the_earliest_receipt_counts() -> None:
    again = received((body_of(NEVER), 90), (body_of(NEVER), 10), (body_of(NEVER), 50))
    assert states(again) == {(10, "FAIL")}
    assert join(received((body_of(NEVER), 90)), received((body_of(NEVER), 10))) == join(
        received((body_of(NEVER), 10)), received((body_of(NEVER), 90))
    )


def test_a_copy_written_differently_is_the_same_event() -> None:
    event = json.loads(body_of(NEVER))
    other = json.dumps(event, indent=2, sort_keys=True).encode()
    assert states(received((body_of(NEVER), 10), (other, 90))) == {(10, "FAIL")}


def test_a_redelivered_start_without_a_time_does_not_open_another_attempt() -> None:
    begun, ended = body_of(None, "START"), body_of(None, "COMPLETE")
    assert states(received((begun, 0), (ended, 5), (begun, 9))) == {(0, "START"), (5, "COMPLETE")}


def test_a_copy_that_comes_after_its_time_is_the_same_event() -> None:
    """The event is two minutes ahead when it first comes, and again when its time has passed."""
    ahead = body_of("2026-01-01T12:02:00Z")
    assert states(received((ahead, 0), (ahead, 300))) == {(0, "FAIL")}
    later = received((ahead, 300), future_instants={AT + 120 * SECOND})
    assert later.runs == {}, "the writer knows whether it is a copy"
    assert states(later) == {(120, "FAIL")}
    assert states(join(received((ahead, 0)), later)) == {(0, "FAIL")}


def test_an_event_at_the_receipt_of_one_without_a_time_is_dated() -> None:
    without, dated = body_of(None, "START"), body_of(NOON, "FAIL")
    together = received((without, 0), (dated, 0))
    assert [event.event_instant for event in together.undated.values()] == [None]
    assert together == join(received((without, 0)), received((dated, 0)))


bodies = st.lists(
    st.tuples(
        st.builds(
            body_of,
            st.sampled_from([None, NOON, "2026-01-01T12:02:00Z", NEVER]),
            st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL"]),
        ),
        st.integers(0, 50),
    ),
    min_size=1,
    max_size=8,
)


@given(bodies, st.randoms(use_true_random=False))
def test_order_batches_and_later_copies_do_not_count(
    pairs: list[tuple[bytes, int]], chance: random.Random
) -> None:
    copies = [(body, chance.randrange(at, 60)) for body, at in chance.choices(pairs, k=3)]
    shuffled = [*pairs, *copies]
    chance.shuffle(shuffled)
    cut = chance.randrange(len(shuffled) + 1)
    joined = join(received(*shuffled[:cut]), received(*shuffled[cut:]))
    expected, delta = received(*pairs), joined
    assert states_or_none(delta) == states_or_none(expected)
    assert {key: event.instant for key, event in delta.undated.items()} == {
        key: event.instant for key, event in expected.undated.items()
    }


def states_or_none(delta: GraphDelta) -> set[tuple[int, str]] | None:
    return states(delta) if delta.runs or delta.undated else None
