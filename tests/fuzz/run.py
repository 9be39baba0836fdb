"""Run a number of random inputs through targets, and keep each finding in the corpus.

    python -m tests.fuzz.run [EXAMPLES] [TARGET ...]

A finding is written to tests/fuzz/corpus/TARGET/, and `pytest tests/fuzz` replays it from then on.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.fuzz.mutator import Mutator
from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).parent / "corpus"
# Processor time of one input. More of it is a finding: the input has found a loop without a bound.
PROCESSOR_SECONDS_MAX = 20.0


class EndlessError(Exception):
    """An input that takes more than `PROCESSOR_SECONDS_MAX`."""


@contextmanager
def bounded() -> Iterator[None]:
    """Raise EndlessError within the block once it has taken too much processor time."""

    def end(*_: int | FrameType | None) -> None:
        raise EndlessError(f"more than {PROCESSOR_SECONDS_MAX:.0f} s of processor time")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Campaign:
    """The result of many inputs to one target: `findings` holds one input of each kind."""

    inputs: int = 0
    outcomes: int = 0
    findings: dict[str, str] = field(default_factory=dict)
    slowest_seconds: float = 0.0
    slowest: str = ""


def run(target: Target, examples: int, seed: str) -> Campaign:
    """Return the result of a number of inputs to a target."""
    mutator, campaign = Mutator(target.seeds, target.tokens, seed), Campaign()
    for _ in range(examples):
        text = mutator.next()
        began = time.perf_counter()
        try:
            with bounded():
                outcome = target.run(text)
            mutator.report(text, outcome)
        except Exception as error:
            campaign.findings.setdefault(_place(error), text)
        seconds = time.perf_counter() - began
        if seconds > campaign.slowest_seconds:
            campaign.slowest_seconds, campaign.slowest = seconds, text
        campaign.inputs += 1
    campaign.outcomes = mutator.outcomes
    return campaign


def _place(error: Exception) -> str:
    """Return the type of an error and the last line that raised it: one kind of finding."""
    if isinstance(error, EndlessError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno} {last.name}"


def save(name: str, text: str) -> Path:
    """Write a finding to the corpus and return its file."""
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    content = text.encode("utf-8", "surrogatepass")
    file = folder / f"{hashlib.sha256(content).hexdigest()[:12]}.txt"
    file.write_bytes(content)
    return file


def main(examples: int, names: list[str]) -> int:
    """Run all or some targets; return 1 if there is a finding."""
    seed, found = os.environ.get("FUZZ_SEED") or f"{time.time_ns()}", 0
    for name in names or TARGETS:
        campaign = run(TARGETS[name], examples, seed)
        print(
            f"{name}: {campaign.inputs:,} inputs, {campaign.outcomes:,} outcomes,"
            f" {len(campaign.findings)} findings, slowest {campaign.slowest_seconds:.2f} s,"
            f" seed {seed}",
            flush=True,
        )
        for place, text in campaign.findings.items():
            found += 1
            print(f"  {place}: {save(name, text)}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    sys.exit(main(count, sys.argv[2:]))
