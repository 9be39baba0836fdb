"""Lasting differences between a run and the earlier runs of its job.

Three things are compared: the datasets that it read, the schemas of the sources that it read, and
the hash of its source code. The newest ten earlier successful runs count. A value changed if the
run, and perhaps some runs before it, have another value than the run before those. A value that
changes in more than half of the runs, such as a table that is named after the day, is no sign.

A source may replace another one: if one dataset appeared among the inputs where one vanished, the
two schemas are compared too. The schema of a source is the one that the run reported, or else the
newest one that was first observed before the run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import msgspec

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import URNS_PER_QUERY_MAX, name_nodes
from headwater.lineage.questions.outliers import EARLIER_MAX
from headwater.lineage.view import GraphView
from headwater.schema.drift import Fields, drift
from headwater.schema.facts import RunFacts
from headwater.schema.urns import schema_urn

INPUTS, SCHEMA, CODE = "inputs", "schema", "code"
RUNS_MAX = 500
INPUTS_MAX = 1_000
_SCHEMAS_MAX = 100
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class RunDifference:
    """A value that changed between two successive runs of a job, and lasted until `run`.

    what: INPUTS, SCHEMA or CODE.
    run: the run upstream; since: the first run with the new value, perhaps the same one.
    previous: the last run with the old value.
    urn: the source whose schema changed, or else `since`.
    others: the versions that the two runs read.
    """

    what: str
    run: str
    since: str
    since_at: datetime | None
    previous: str
    reason: str
    before: str | None
    after: str | None
    urn: str
    others: tuple[str, ...] = ()


@dataclass
class RunState:
    """The compared values of one run, without hidden datasets.

    inputs: by dataset, the versions that it read.
    schemas: by dataset, the hash of the schema that it reported.
    """

    urn: str
    at: datetime | None
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    schemas: dict[str, str] = field(default_factory=dict)
    code: str | None = None

    @property
    def sources(self) -> dict[str, str]:
        """Return the sources that it read, by dataset."""
        return {
            dataset: version
            for dataset, versions in self.inputs.items()
            for version in versions
            if version.startswith("source:")
        }


@dataclass(frozen=True)
class RunHistory:
    """A run with the earlier successful runs of its job, newest first, the run itself included."""

    run: str
    pipeline: str
    states: list[RunState]


def read_run_histories(view: GraphView, runs: Sequence[str]) -> list[RunHistory]:
    """Return the histories of the first of these runs; hidden runs and datasets are left out."""
    rows = view.read("read/failures/earlier_runs", urns=list(runs[:RUNS_MAX]), earlier=EARLIER_MAX)
    wanted: dict[str, None] = {}
    for row in rows:
        wanted.update(dict.fromkeys([row["run"], *row["earlier"]]))
    states = _read_states(view, list(wanted))
    histories = []
    for row in rows:
        urns = [row["run"], *row["earlier"]]
        if row["run"] in states:
            known = [states[urn] for urn in urns if urn in states]
            histories.append(RunHistory(row["run"], str(row["pipeline"]), known))
    order = {urn: number for number, urn in enumerate(runs)}
    return sorted(histories, key=lambda history: order[history.run])


def _read_states(view: GraphView, urns: list[str]) -> dict[str, RunState]:
    hidden = find_hidden(view, urns)
    visible = [urn for urn in urns if urn not in hidden]
    states: dict[str, RunState] = {}
    facts: dict[str, RunFacts] = {}
    for some in chunks(visible, URNS_PER_QUERY_MAX):
        for row in view.read("read/failures/run_inputs_and_outputs", urns=some, limit=INPUTS_MAX):
            state = states[row["urn"]] = RunState(row["urn"], row["startedAt"])
            for one in row["inputs"]:
                state.inputs[one["dataset"]].append(one["urn"])
        for row in view.read("read/nodes/facts", urns=some):
            if row["facts"]:
                facts[row["urn"]] = msgspec.json.decode(row["facts"], type=RunFacts)
    _remove_hidden(view, states.values())
    canonical = _canonical_names(view, states, facts)
    for urn, state in states.items():
        if urn in facts:
            _add_facts(state, facts[urn], canonical)
    return states


def _remove_hidden(view: GraphView, states: Iterable[RunState]) -> None:
    datasets: set[str] = set()
    for state in states:
        datasets.update(state.inputs)
    hidden = find_hidden(view, sorted(datasets))
    for state in states if hidden else ():
        for dataset in hidden & state.inputs.keys():
            del state.inputs[dataset]


def _canonical_names(
    view: GraphView, states: Mapping[str, RunState], facts: Mapping[str, RunFacts]
) -> dict[str, str]:
    """Return the datasets behind the aliases under which runs reported inputs."""
    aliases: set[str] = set()
    for urn, run in facts.items():
        aliases |= run.inputs.keys() - states[urn].inputs.keys()
    if not aliases:
        return {}
    rows = view.read("read/nodes/canonical_datasets", urns=sorted(aliases))
    return {row["urn"]: row["canonical"] for row in rows}


def _add_facts(state: RunState, facts: RunFacts, canonical: Mapping[str, str]) -> None:
    state.code = facts.source_hash.value if facts.source_hash else None
    for urn, usage in sorted(facts.inputs.items()):
        dataset = canonical.get(urn, urn)
        if dataset in state.inputs and usage.schema is not None:
            state.schemas[dataset] = usage.schema.value


def last_change(values: Sequence[Hashable]) -> int | None:
    """Return the number of newest values since the last change; None without a lasting one.

    values: newest first. Values that change in more than half of the steps have none.
    """
    changes = [number for number in range(1, len(values)) if values[number] != values[number - 1]]
    if not changes or len(changes) > max(1, len(values) // 2):
        return None
    return changes[0]


def find_differences(view: GraphView, histories: Sequence[RunHistory]) -> list[RunDifference]:
    """Return each lasting change once, for the first of the runs that has it."""
    found: list[RunDifference] = []
    timelines = _SchemaTimelines(view, histories)
    covered: set[str] = set()
    for history in histories:
        covered.update(state.urn for state in history.states[1:])
    for history in histories:
        # One earlier run shows no usual value, and the history of a later run shows more.
        if len(history.states) <= 2 and history.run in covered:
            continue
        found += _changed_inputs(view, history, timelines)
        found += _changed_schemas(history, timelines)
        found += _changed_code(history)
    first: dict[tuple[str | None, ...], RunDifference] = {}
    for one in found:
        # Several jobs may read a source whose schema changed.
        first.setdefault((one.what, one.urn, one.before, one.after), one)
    return list(first.values())


@dataclass(frozen=True)
class _Step:
    """Two successive runs with different values: the first with the present value, and before."""

    history: RunHistory
    since: RunState
    previous: RunState

    def difference(
        self,
        what: str,
        reason: str,
        values: tuple[str | None, str | None],
        *,
        urn: str = "",
        others: tuple[str, ...] = (),
    ) -> RunDifference:
        """Return the difference; `values` are those before and after."""
        return RunDifference(
            what=what,
            run=self.history.run,
            since=self.since.urn,
            since_at=self.since.at,
            previous=self.previous.urn,
            reason=reason,
            before=values[0],
            after=values[1],
            urn=urn or self.since.urn,
            others=others,
        )


def _find_step(
    history: RunHistory, value_of: Callable[[RunState], Hashable | None]
) -> _Step | None:
    """Return the last lasting change of a value, if the run itself has a value."""
    known = [(state, value) for state in history.states if (value := value_of(state)) is not None]
    if not known or known[0][0].urn != history.run:
        return None
    number = last_change([value for _, value in known])
    if number is None:
        return None
    return _Step(history, known[number - 1][0], known[number][0])


def _changed_code(history: RunHistory) -> list[RunDifference]:
    step = _find_step(history, lambda state: state.code)
    if step is None:
        return []
    before, after = step.previous.code, step.since.code
    reason = f"{history.pipeline} ran source code {after}; the success before it ran {before}"
    return [step.difference(CODE, reason, (before, after))]


def _changed_inputs(
    view: GraphView, history: RunHistory, timelines: _SchemaTimelines
) -> list[RunDifference]:
    step = _find_step(history, lambda state: frozenset(state.inputs) or None)
    if step is None:
        return []
    since, previous = step.since, step.previous
    appeared = sorted(since.inputs.keys() - previous.inputs.keys())
    vanished = sorted(previous.inputs.keys() - since.inputs.keys())
    names = _names(view, [*appeared, *vanished])
    new = ", ".join(names[urn] for urn in appeared)
    old = ", ".join(names[urn] for urn in vanished)
    if new and old:
        reason = f"{history.pipeline} read {new} instead of {old}"
    elif new:
        reason = f"{history.pipeline} read {new}, which the run before did not read"
    else:
        reason = f"{history.pipeline} no longer read {old}"
    versions = _versions(previous, vanished) + _versions(since, appeared)
    changed = step.difference(INPUTS, reason, (old or None, new or None), others=versions)
    replaced = [
        _replaced_schema(step, pair, names, timelines) for pair in _pairs(vanished, appeared, names)
    ]
    return [changed, *(one for one in replaced if one is not None)]


def _versions(state: RunState, datasets: Iterable[str]) -> tuple[str, ...]:
    return tuple(version for dataset in datasets for version in sorted(state.inputs[dataset]))


def _names(view: GraphView, urns: list[str]) -> dict[str, str]:
    nodes = name_nodes(view, urns)
    return {urn: node.name for urn, node in zip(urns, nodes, strict=True)}


def _pairs(
    vanished: Sequence[str], appeared: Sequence[str], names: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return which dataset replaced which: one for one, or by names that differ in digits only."""
    if len(vanished) == len(appeared) == 1:
        return [(vanished[0], appeared[0])]
    by_pattern: dict[str, list[str]] = defaultdict(list)
    for urn in appeared:
        by_pattern[_DIGITS.sub("#", names[urn])].append(urn)
    pairs = []
    for urn in vanished:
        matching = by_pattern[_DIGITS.sub("#", names[urn])]
        if len(matching) == 1:
            pairs.append((urn, matching[0]))
    return pairs


def _replaced_schema(
    step: _Step, pair: tuple[str, str], names: Mapping[str, str], timelines: _SchemaTimelines
) -> RunDifference | None:
    """Return the difference between the schemas of a dataset and of the one that it replaced."""
    old, new = pair
    before = timelines.fields_at(step.previous, old)
    after = timelines.fields_at(step.since, new)
    # Tables without a common column are not two versions of one thing.
    changes = drift(before, after) if before.keys() & after.keys() else []
    if not changes:
        return None
    return step.difference(
        SCHEMA,
        f"the schema of {names[new]} differs from {names[old]}, which it replaced: "
        f"{', '.join(changes)}",
        (_fields_json(before), _fields_json(after)),
        urn=min(step.since.inputs[new]),
        others=_versions(step.previous, [old]),
    )


def _changed_schemas(history: RunHistory, timelines: _SchemaTimelines) -> list[RunDifference]:
    """Return the sources whose schema changed between two runs that read them."""
    found = []
    for dataset, source in sorted(history.states[0].sources.items()):
        step = _find_step(history, partial(timelines.schema_at, dataset=dataset))
        if step is None:
            continue
        before = timelines.fields_at(step.previous, dataset)
        after = timelines.fields_at(step.since, dataset)
        changes = drift(before, after)
        if changes:
            reason = f"the schema of {timelines.name(source)} changed: {', '.join(changes)}"
            values = (_fields_json(before), _fields_json(after))
            found.append(step.difference(SCHEMA, reason, values, urn=source))
    return found


def _fields_json(fields: Fields) -> str:
    return msgspec.json.encode(list(fields.items())).decode()


def _compared_datasets(history: RunHistory) -> set[str]:
    """Return the sources that a run read, and the datasets that only some of the runs read."""
    compared = set(history.states[0].sources)
    read = [set(state.inputs) for state in history.states if state.inputs]
    for one in read:
        compared |= one ^ read[0]
    return compared


class _SchemaTimelines:
    """The schemas of the sources and of the replaced inputs in some histories."""

    def __init__(self, view: GraphView, histories: Iterable[RunHistory]) -> None:
        datasets: set[str] = set()
        sources: set[str] = set()
        for history in histories:
            datasets |= _compared_datasets(history)
            sources.update(history.states[0].sources.values())
        self._names = _names(view, sorted(sources))
        self._schemas: dict[str, list[Row]] = {}
        self._fields: dict[str, Fields] = {}
        for some in chunks(sorted(datasets), URNS_PER_QUERY_MAX):
            for row in view.read("read/nodes/dataset_schemas", urns=some, limit=_SCHEMAS_MAX):
                self._schemas[row["urn"]] = row["schemas"]
                for one in row["schemas"]:
                    self._fields[schema_urn(one["hash"])] = dict(msgspec.json.decode(one["fields"]))

    def name(self, source: str) -> str:
        """Return the name of a source."""
        return self._names[source]

    def schema_at(self, state: RunState, dataset: str) -> str | None:
        """Return the urn of the schema that a dataset had when a run read it; None if unknown."""
        if dataset not in state.inputs:
            return None
        reported = state.schemas.get(dataset)
        if reported is not None:
            return schema_urn(reported)
        for one in self._schemas.get(dataset, ()):
            if state.at is not None and one["firstSeen"] <= state.at:
                return schema_urn(one["hash"])
        return None

    def fields_at(self, state: RunState, dataset: str) -> Fields:
        """Return the fields that a dataset had when a run read it; none of an unknown schema."""
        return self._fields.get(self.schema_at(state, dataset) or "", {})
