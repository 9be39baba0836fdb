"""The weights of root cause candidates."""

from __future__ import annotations

from itertools import pairwise

from headwater.lineage.questions.candidates import WEIGHTS, Candidate


def test_kinds_are_listed_by_falling_weight() -> None:
    assert all(heavier > lighter for heavier, lighter in pairwise(WEIGHTS.values()))


def test_a_candidate_has_the_weight_of_its_kind() -> None:
    candidate = Candidate("INPUT_CHANGED", "it reads b instead of a", "run:r", "run:r", None, 1)
    assert (candidate.weight, candidate.measures) == (80, ())
