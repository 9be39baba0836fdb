"""The memo: used values stay, unused values go, and the size stays within its limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.schema.memo import Memo


def memo(bytes_max: int) -> Memo[str, int]:
    """Return a memo in which each value is its own size."""
    return Memo(bytes_max, size=lambda _, value: value)


def test_stored_values_and_no_others_are_found() -> None:
    memoized = memo(100)
    assert memoized.put("a", 10) == 10
    assert memoized.get("a") == 10
    assert memoized.get("b") is None


def test_used_values_outlive_unused_ones() -> None:
    memoized = memo(100)
    memoized.put("asked", 10)
    memoized.put("forgotten", 10)
    for number in range(20):
        memoized.put(f"once {number}", 10)
        assert memoized.get("asked") == 10
    assert memoized.get("forgotten") is None


def test_a_value_larger_than_a_generation_is_not_stored_and_evicts_nothing() -> None:
    memoized = memo(100)
    memoized.put("small", 10)
    assert memoized.put("large", 51) == 51
    assert memoized.get("large") is None
    assert memoized.get("small") == 10


def test_storing_a_value_again_takes_no_more_room() -> None:
    memoized = memo(100)
    for _ in range(20):
        memoized.put("again", 20)
    memoized.put("other", 20)
    assert memoized.get("again") == memoized.get("other") == 20


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 40), st.booleans()), max_size=60)
)
def test_it_never_holds_more_than_it_may(steps: list[tuple[str, int, bool]]) -> None:
    memoized = memo(100)
    sizes: dict[str, int] = {}
    for key, size, is_read in steps:
        if is_read:
            assert memoized.get(key) in (None, sizes.get(key))
        else:
            memoized.put(key, sizes.setdefault(key, size))
        assert sum(memoized._young.values()) <= 50
        assert sum(memoized._young.values()) + sum(memoized._old.values()) <= 100
