"""The retention of the detail of runs."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import SettingsError
from headwater.schema.retention import (
    Horizon,
    Rules,
    add_horizon,
    decode_horizons,
    is_expired,
    override,
    read_rules,
    sample_position,
)

DAY = 86_400_000_000
NOW = 1_000 * DAY


def test_the_default_retention_is_ninety_days() -> None:
    rules = read_rules()
    assert rules.of("anything") == (90, 0, 0)
    assert Horizon(rules, NOW).of("x", ["etl"]) == 910 * DAY
    assert Horizon(rules, NOW).latest == 910 * DAY


def test_a_custom_file_adds_patterns_and_the_longest_one_applies(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(
        '[days]\n"team-*" = 30\n"team-a*" = 7\n[sample]\n"team-*" = '
        '1\n[sampled_days]\n"team-*" = 60\n'
    )
    rules = read_rules(file)
    assert [rules.of(name)[0] for name in ("team-b", "team-a1", "other")] == [30, 7, 90]
    horizon = Horizon(rules, NOW)
    # Every run of the teams is sampled.
    assert horizon.of("x", ["team-a1"]) == 940 * DAY
    # A run of two namespaces has the longer retention; one of none stays for ever.
    assert horizon.of("x", ["team-a1", "other"]) == 910 * DAY
    assert horizon.of("x", []) is None
    assert horizon.latest == 993 * DAY


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[day]\n", "unknown table 'day'"),
        ("days = 3\n", "days is no table"),
        ('[days]\n"*" = 0\n', r'days."\*" is 0'),
        ('[days]\n"*" = "90"\n', r"is '90'"),
        ('[sample]\n"*" = 1.5\n', "is 1.5"),
        ('[sample]\n"*" = true\n', "is True"),
        ("[days\n", "rules.toml"),
        (f"a = {'[' * 5_000}{']' * 5_000}", "rules.toml"),
        (f'[days]\n"*" = {"9" * 5_000}', "rules.toml"),
        (f'[days]\n"*" = {"9" * 400}', "is 9"),
    ],
)
def test_errors_name_the_fault(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=problem):
        read_rules(file)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml"):
        read_rules(tmp_path / "none.toml")


def test_a_sampled_run_is_kept_longer_or_for_ever() -> None:
    ids = [f"run-{number}" for number in range(4_000)]
    share = sum(sample_position(run_id) < 0.1 for run_id in ids) / len(ids)
    assert 0.08 < share < 0.12
    sampled = next(run_id for run_id in ids if sample_position(run_id) < 0.1)
    other = next(run_id for run_id in ids if sample_position(run_id) >= 0.1)
    rules = Rules({"*": 10}, {"*": 0.1}, {"*": 0})
    assert Horizon(rules, NOW).of(sampled, ["n"]) is None
    assert Horizon(rules, NOW).of(other, ["n"]) == 990 * DAY


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 50)), min_size=1, max_size=6),
    st.integers(0, 60),
)
def test_detail_removed_by_one_horizon_stays_removed(
    drawn: list[tuple[int, int]], last: int
) -> None:
    horizons: list[Horizon] = []
    base = Rules({"*": 1}, {"*": 0}, {"*": 0})
    all_of_them = [Horizon(override(base, days=days), moment * DAY) for days, moment in drawn]
    for horizon in all_of_them:
        horizons = add_horizon(horizons, horizon)
    assert is_expired(horizons, "x", ["n"], last * DAY) == any(
        is_expired([one], "x", ["n"], last * DAY) for one in all_of_them
    )
    assert len(horizons) == len({days for days, _ in drawn})


@pytest.mark.parametrize("days", [inf, nan, 0, -1, 36_501, 800_000])
def test_days_out_of_range_name_the_option(days: float) -> None:
    with pytest.raises(SettingsError, match=r"--days is .*"):
        override(read_rules(), days=days)
    with pytest.raises(SettingsError, match=r'days\."\*" is '):
        Rules({"*": days}, {"*": 0}, {"*": 0})


@pytest.mark.parametrize("sample", [inf, nan, -0.1, 1.1])
def test_a_sample_out_of_range_names_the_option(sample: float) -> None:
    with pytest.raises(SettingsError, match=r"--sample is .*"):
        override(read_rules(), sample=sample)


@pytest.mark.parametrize("number", ["null", "1e9", "0", '"90"'])
def test_an_unreadable_horizon_is_counted_and_the_others_stay(number: str) -> None:
    whole = Horizon(Rules({"*": 30.0}, {"*": 0.0}, {"*": 0.0}), NOW)
    text = msgspec.json.encode([whole, whole]).decode().replace("30.0", number, 1)
    assert decode_horizons(text) == ([whole], 1)


@pytest.mark.parametrize(
    "part",
    [
        '{"rules":{"days":{},"sample":{"*":0},"sampled_days":{"*":0}},"at":5}',
        '{"rules":{"days":{"a":1},"sample":{"*":0},"sampled_days":{"*":0}},"at":5}',
        '{"rules":{"days":{"*":1},"sample":{"*":0},"sampled_days":{"*":0}},"at":-1}',
        '{"rules":{"days":{"*":1},"sample":{"*":0},"sampled_days":{"*":0}},"at":253402300800000000}',
    ],
)
def test_a_horizon_that_no_rollup_writes_is_unreadable(part: str) -> None:
    assert decode_horizons(f"[{part}]") == ([], 1)


@pytest.mark.parametrize("text", ["", "{}", "[", "[1", "[" * 100_000, "[" * 9 + "]" * 9])
def test_a_text_without_horizons_is_one_unreadable(text: str) -> None:
    assert decode_horizons(text) == ([], 1)


def test_a_horizon_of_a_later_moment_applies_now() -> None:
    rules = Rules({"*": 30.0}, {"*": 0.0}, {"*": 0.0})
    assert Horizon(rules, NOW + DAY).until(NOW) == Horizon(rules, NOW)
    assert Horizon(rules, NOW - DAY).until(NOW) == Horizon(rules, NOW - DAY)
