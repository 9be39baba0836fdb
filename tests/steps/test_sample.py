"""The sample by key: fixed keys, the rate, and the recall of errors against ground truth."""

from __future__ import annotations

import hashlib

import pytest

from headwater.steps import is_sampled


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
