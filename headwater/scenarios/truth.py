"""What Headwater must find after a fault: the ground truth that its answers are compared with.

Nodes are written as `job:NAME`, `dataset:NAME` and `answer:ID`; the namespace is the story's name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A candidate that `root-cause` must return: its kind, and words that its reason contains."""

    kind: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Truth:
    """What Headwater must find after the fault.

    findings: rule and node of every finding of tier P1 or P2, and of no other.
    root: the one that caused the others.
    tier: the tier of the alert.
    symptom: the node at which somebody notices the fault; `root-cause` starts there.
    consumers: the affected nodes that the root finding names.
    replay: the jobs to run again, in steps; empty if the story has no such plan.
    answers: a player of the game day has to name one of these nodes.
    """

    findings: frozenset[tuple[str, str]]
    root: tuple[str, str]
    tier: str
    symptom: str
    causes: tuple[Cause, ...]
    consumers: frozenset[str]
    answers: frozenset[str]
    replay: tuple[tuple[str, ...], ...] = ()
