"""The memo: used values stay, unused values go, and the size stays within its limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.schema.memo import Memo


def memo(bytes_max: int) -> Memo[str, int]:
    """Return a memo in which each value is its own size."""
    return Memo(bytes_max, size=lambda _, value: value)


def test_stored_values_and_no_others_are_found() -> None:
    kept = memo(100)
    assert kept.put("a", 10) == 10
    assert kept.get("a") == 10
    assert kept.get("b") is None


def test_used_values_outlive_unused_ones() -> None:
    kept = memo(100)
    kept.put("asked", 10)
    kept.put("forgotten", 10)
    for number in range(20):
        kept.put(f"once {number}", 10)
        assert kept.get("asked") == 10
    assert kept.get("forgotten") is None


def test_a_value_larger_than_a_generation_is_not_stored_and_evicts_nothing() -> None:
    kept = memo(100)
    kept.put("small", 10)
    assert kept.put("large", 51) == 51
    assert kept.get("large") is None
    assert kept.get("small") == 10


def test_storing_a_value_again_takes_no_more_room() -> None:
    kept = memo(100)
    for _ in range(20):
        kept.put("again", 20)
    kept.put("other", 20)
    assert kept.get("again") == kept.get("other") == 20


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 40), st.booleans()), max_size=60)
)
def test_it_never_holds_more_than_it_may(steps: list[tuple[str, int, bool]]) -> None:
    kept = memo(100)
    seen: dict[str, int] = {}
    for key, size, asks in steps:
        if asks:
            assert kept.get(key) in (None, seen.get(key))
        else:
            kept.put(key, seen.setdefault(key, size))
        assert sum(kept._young.values()) <= 50
        assert sum(kept._young.values()) + sum(kept._old.values()) <= 100
