"""Random inputs to each reader of text from outside: a short run, and every earlier finding.

FUZZ_EXAMPLES is the number of inputs to each target. FUZZ_SEED is the seed; without one each run has
the same inputs, and `make fuzz` chooses one by chance. A finding is written to the corpus, which
every run replays.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.mutator import Mutator
from tests.fuzz.run import CORPUS, bounded, run, save
from tests.fuzz.targets import TARGETS

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))
SEED = os.environ.get("FUZZ_SEED", "20261125")
FOUND = sorted(CORPUS.glob("*/*.txt"))


@pytest.mark.parametrize("name", TARGETS)
def test_random_inputs_have_no_finding(name: str) -> None:
    campaign = run(TARGETS[name], EXAMPLES, SEED)
    saved = {place: str(save(name, text)) for place, text in campaign.findings.items()}
    assert saved == {}, f"seed {SEED}"
    assert campaign.inputs == EXAMPLES
    # Inputs that all end alike would test nothing.
    assert campaign.outcomes > 1


@pytest.mark.parametrize("file", FOUND, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_earlier_findings_stay_repaired(file: Path) -> None:
    if file.parent.name not in TARGETS:
        pytest.skip("the tests with a server replay it")
    with bounded():
        TARGETS[file.parent.name].run(file.read_bytes().decode("utf-8", "surrogatepass"))


def test_the_same_seed_gives_the_same_inputs() -> None:
    one, other = (Mutator(("a b c",), ("x",), "7") for _ in range(2))
    assert [one.next() for _ in range(50)] == [other.next() for _ in range(50)]


def test_an_input_with_a_new_outcome_joins_the_pool() -> None:
    mutator = Mutator(("a",), (), "7")
    mutator.report("zz", "refused 'a' at 1")
    mutator.report("yy", "refused 'b' at 22")
    assert mutator.outcomes == 1
