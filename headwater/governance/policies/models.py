"""What a policy is, what it is evaluated on, and what a violation is.

A policy is a condition on variables (`variables.toml`). The condition is true where the policy is
violated. A standing policy is evaluated on the nodes of the graph. Other policies are evaluated on
a proposed change: a delete, a write, an inference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

from headwater.errors import QueryError


class Severity(StrEnum):
    """How urgent a violation is: P1 a person now, P2 and P3 a ticket. They sort by urgency."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Enforcement(StrEnum):
    """What a violation does to a proposed change: refuse it, warn, or only record it."""

    BLOCK = "block"
    WARN = "warn"
    AUDIT = "audit"


class Subject(StrEnum):
    """What a policy is evaluated on, the `on` of its file.

    `dataset`, `job`, `answer` and `flow` are standing: they concern the nodes of the graph. A
    `flow` is a dataset with the datasets that it comes from.
    """

    DATASET = "dataset"
    JOB = "job"
    ANSWER = "answer"
    FLOW = "flow"
    RUN = "run"
    DELETE = "delete"
    CHANGE = "change"
    INFERENCE = "inference"
    EXPORT = "export"
    READ = "read"


STANDING = frozenset((Subject.DATASET, Subject.JOB, Subject.ANSWER, Subject.FLOW))
# Which policies concern a proposed action. A drop is a delete; a write is also a flow.
SUBJECTS_OF_ACTION: Mapping[str, frozenset[Subject]] = {
    "delete": frozenset((Subject.DELETE,)),
    "drop": frozenset((Subject.DELETE,)),
    "change": frozenset((Subject.CHANGE,)),
    "write": frozenset((Subject.RUN, Subject.FLOW)),
    "inference": frozenset((Subject.INFERENCE,)),
    "export": frozenset((Subject.EXPORT,)),
    "read": frozenset((Subject.READ, Subject.FLOW)),
}


class PolicyError(QueryError):
    """A file of policies that cannot be used; the message has one line for each problem."""


@dataclass(frozen=True)
class Outcome:
    """What a condition gives: True if the policy is violated.

    unknown: why the condition has no value, such as a variable whose value is unknown; otherwise
      empty.
    """

    is_violated: bool
    unknown: str = ""


class Condition(Protocol):
    """A compiled condition.

    Its language is behind this class, so that another engine can replace it.
    """

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that the condition reads."""

    def evaluate(self, values: Mapping[str, Any]) -> Outcome:
        """Return whether the condition is true; an absent value is unknown."""


@dataclass(frozen=True)
class Match:
    """The nodes that a policy concerns.

    `*` in a pattern is any text. An empty field matches every node. A tag matches by its key, or by
    its whole text `key=value`.
    """

    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def includes(self, values: Mapping[str, Any]) -> bool:
        """Return True if the node with these variables is matched."""
        types = (values.get("node.type") or "").lower()
        return (
            _matches(self._namespace_pattern, values.get("node.namespace"))
            and _matches(self._name_pattern, values.get("node.name"))
            and (not self.types or types in {type.lower() for type in self.types})
            and (not self.tags or self._has_tag(values.get("node.tags", ())))
        )

    def _has_tag(self, tags: Sequence[str]) -> bool:
        wanted = {tag.lower() for tag in self.tags}
        return any(tag.lower() in wanted or tag.lower().split("=")[0] in wanted for tag in tags)

    @cached_property
    def _namespace_pattern(self) -> re.Pattern[str] | None:
        return _pattern(self.namespaces)

    @cached_property
    def _name_pattern(self) -> re.Pattern[str] | None:
        return _pattern(self.names)


def _pattern(globs: Sequence[str]) -> re.Pattern[str] | None:
    return glob_pattern(globs) if globs else None


def glob_pattern(globs: Iterable[str]) -> re.Pattern[str]:
    """Return patterns with `*` for any text as one compiled regular expression.

    Each part takes the first place where it fits and never another one. So the time of a match is
    bounded by the lengths of the pattern and the text.
    """
    return re.compile("|".join(map(_atomic_regex, globs)), re.DOTALL)


def _atomic_regex(glob: str) -> str:
    first, *others = glob.split("*")
    if not others:
        return re.escape(first)
    *inner, last = others
    found = "".join(f"(?>.*?{re.escape(part)})" for part in inner if part)
    return f"{re.escape(first)}{found}.*{re.escape(last)}"


def glob_regex(glob: str) -> str:
    """Return a pattern with `*` as a regular expression for CEL, whose time is linear."""
    return ".*".join(re.escape(part) for part in glob.split("*"))


def _matches(pattern: re.Pattern[str] | None, text: str | None) -> bool:
    return pattern is None or (text is not None and pattern.fullmatch(text) is not None)


@dataclass(frozen=True)
class PolicyException:
    """A node to which a policy does not apply until an instant, and the reason.

    node: the urn, or a pattern with `*`.
    """

    node: str
    reason: str
    until: datetime | None = None

    def applies(self, urn: str, instant: datetime) -> bool:
        """Return True if the exception covers a node at an instant."""
        is_valid = self.until is None or instant < self.until
        return is_valid and self._pattern.fullmatch(urn) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return glob_pattern([self.node])


@dataclass(frozen=True)
class PolicyCase:
    """An example in a file of policies: variables, and whether they violate the policy."""

    name: str
    values: Mapping[str, Any]
    expected: str
    instant: datetime | None = None


@dataclass(frozen=True)
class Policy:
    """A policy of a file.

    subjects: what it is evaluated on.
    source: the condition as text; `rule` and `arguments` say which ready-made rule it comes from.
    owners: who answers for the policy; notify: who learns of violations beside the node's owners.
    until: the instant from which the policy no longer applies.
    """

    name: str
    subjects: frozenset[Subject]
    source: str
    condition: Condition = field(compare=False)
    title: str = ""
    description: str = ""
    match: Match = Match()
    severity: Severity = Severity.P2
    enforce: Enforcement = Enforcement.WARN
    message: str = ""
    owners: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    until: datetime | None = None
    rule: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cases: tuple[PolicyCase, ...] = ()
    file: str = ""

    @property
    def is_standing(self) -> bool:
        """Return True if the policy concerns the nodes of the graph."""
        return bool(self.subjects & STANDING)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that the condition and the message read."""
        named = (match[1] for match in MESSAGE_VARIABLE.finditer(self.message))
        return tuple(dict.fromkeys((*self.condition.variables, *named)))


# A variable in a message: {node.name}.
MESSAGE_VARIABLE = re.compile(r"\{([A-Za-z][\w.]*)\}")


@dataclass(frozen=True)
class PolicySet:
    """The policies of a directory, by name; `digest` changes whenever a policy changes."""

    policies: tuple[Policy, ...] = ()
    digest: str = ""

    @property
    def standing(self) -> tuple[Policy, ...]:
        """Return the policies that concern the nodes of the graph."""
        return tuple(policy for policy in self.policies if policy.is_standing)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Return the names of all variables that the policies read."""
        return frozenset(chain.from_iterable(policy.variables for policy in self.policies))


@dataclass(frozen=True)
class Change:
    """A proposed change.

    action: a key of `SUBJECTS_OF_ACTION`.
    job: the urn of the job that makes the change; purpose: what the data is for.
    actor: who makes it.
    columns: the columns that it removes or changes; empty for the whole node.
    """

    action: str
    job: str = ""
    purpose: str = ""
    actor: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Approval:
    """An approval of a node for a policy, by a person; `until` None: for good."""

    policy: str
    actor: str
    reason: str = ""
    until: datetime | None = None

    def applies(self, policy: str, instant: datetime) -> bool:
        """Return True if the approval is for a policy and valid at an instant."""
        return self.policy == policy and (self.until is None or instant < self.until)


@dataclass(frozen=True)
class Facts:
    """The variables of one node or proposed change.

    values: by name as in `variables.toml`; an unknown value is absent.
    """

    urn: str
    subjects: frozenset[Subject]
    values: Mapping[str, Any]
    approvals: tuple[Approval, ...] = ()


@dataclass(frozen=True)
class Violation:
    """A policy that a node or a proposed change violates.

    unknown: why the policy cannot be assessed; then nobody knows whether it is violated, and a
      blocking policy refuses the change. Otherwise empty.
    evidence: the values of the variables that the condition and the message read.
    owners: those of the node.
    since: the first event that names the node; the violation is not older.
    """

    policy: str
    urn: str
    severity: Severity
    enforce: Enforcement
    message: str
    unknown: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    owners: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    since: datetime | None = None

    @property
    def blocks(self) -> bool:
        """Return True if the violation refuses a proposed change."""
        return self.enforce is Enforcement.BLOCK
