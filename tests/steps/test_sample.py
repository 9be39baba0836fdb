"""The sample by key: fixed keys, the rate, and the recall of errors against ground truth."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.steps import is_sampled

KEYS = st.one_of(st.text(max_size=20), st.binary(max_size=20), st.integers())
RATES = st.floats(0.0, 1.0)


@given(KEYS, RATES)
def test_a_key_always_has_the_same_choice(key: str | bytes | int, rate: float) -> None:
    chosen = is_sampled(key, rate)
    assert is_sampled(key, rate) is chosen
    if isinstance(key, int):
        assert is_sampled(str(key), rate) is chosen
    if not isinstance(key, bytes):
        assert is_sampled(str(key).encode("utf-8", "surrogatepass"), rate) is chosen


@given(KEYS, RATES, RATES)
def test_a_larger_rate_includes_the_keys_of_a_smaller_one(
    key: str | bytes | int, one: float, other: float
) -> None:
    assert is_sampled(key, max(one, other)) or not is_sampled(key, min(one, other))


@given(st.sets(st.text(max_size=8), max_size=40), st.integers(1, 7), RATES)
def test_the_samples_of_partitions_are_the_sample_of_the_whole(
    keys: set[str], count: int, rate: float
) -> None:
    partitions: list[set[str]] = [set() for _ in range(count)]
    for number, key in enumerate(sorted(keys)):
        partitions[number % count].add(key)
    parts = [{key for key in some if is_sampled(key, rate)} for some in partitions]
    assert set().union(*parts) == {key for key in keys if is_sampled(key, rate)}
    # The sample and the rest are all events.
    rest = {key for key in keys if not is_sampled(key, rate)}
    assert set().union(*parts, rest) == keys


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    [
        # 20,000 keys: n * p, less and more six times sqrt(n * p * (1 - p)).
        # 200 -+ 6 * 14.1; 2,000 -+ 6 * 42.4; 10,000 -+ 6 * 70.7.
        (0.01, 116, 284),
        (0.1, 1_745, 2_255),
        (0.5, 9_576, 10_424),
    ],
)
@pytest.mark.parametrize("prefix", ["", "order-", "\N{SNOWMAN}"])
def test_the_share_of_keys_is_close_to_the_rate(
    prefix: str, rate: float, low: int, high: int
) -> None:
    assert low < sum(is_sampled(f"{prefix}{number}", rate) for number in range(20_000)) < high


def test_fixed_keys() -> None:
    # SHA-256 of b"a" begins with ca978112ca1bbdca: 0.7914 of the range.
    assert hashlib.sha256(b"a").hexdigest().startswith("ca978112ca1bbdca")
    assert not is_sampled("a", 0.79)
    assert is_sampled("a", 0.80)
    assert is_sampled(b"a", 0.80) is is_sampled("a", 0.80)
    assert is_sampled(12, 0.5) is is_sampled("12", 0.5)


def test_the_bounds_of_the_rate() -> None:
    assert not any(is_sampled(key, 0.0) for key in range(100))
    assert all(is_sampled(key, 1.0) for key in range(100))
    for wrong in (-0.1, 1.1):
        with pytest.raises(ValueError, match="rate"):
            is_sampled("a", wrong)


def test_services_choose_the_same_keys_and_find_the_same_errors() -> None:
    """20,000 events pass two services; the second one corrupts the keys that 500 divides."""
    keys = range(20_000)
    corrupted = {key for key in keys if key % 500 == 0}
    at_ingest = {key for key in keys if is_sampled(key)}
    at_sink = {key for key in keys if is_sampled(str(key).encode())}
    assert at_ingest == at_sink
    # Ground truth: 40 of 20,000 events are corrupted. The sample holds 1 % of all events.
    assert len(corrupted) == 40
    assert 150 < len(at_ingest) < 250
    found = at_ingest & corrupted
    assert found == {key for key in corrupted if is_sampled(key)}
    # Job-level lineage covers every run; the sample finds its share of the errors, no others.
    recall = len(found) / len(corrupted)
    by_hand = sum(_fraction(key) < 0.01 for key in corrupted) / 40
    assert recall == by_hand
    # With a rate of 10 % the same errors are found, and more.
    wider = {key for key in corrupted if is_sampled(key, 0.1)}
    assert found <= wider
    assert len(wider) == sum(_fraction(key) < 0.1 for key in corrupted)


def _fraction(key: int) -> float:
    return int(hashlib.sha256(str(key).encode()).hexdigest()[:16], 16) / 2**64
