"""One mark for each node: the most severe state of the personal data there, with its classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from headwater.governance.personal_data.propagate import Reached, State
from headwater.governance.personal_data.reach import read_reach
from headwater.lineage.view import GraphView


@dataclass(frozen=True)
class PersonalDataMark:
    """The most severe state of the personal data at a node; `classes` have that state, in order."""

    state: State
    classes: tuple[str, ...]


def personal_data_marks(view: GraphView, urns: Sequence[str]) -> dict[str, PersonalDataMark]:
    """Return the marks of the datasets, columns and answers that have personal data, by urn.

    A dataset has the classes of its columns too. The caller may see each of the nodes.
    """
    at = read_reach(view).at
    return marks_of(chain.from_iterable(at.get(urn, ()) for urn in set(urns)), urns)


def marks_of(found: Iterable[Reached], urns: Iterable[str]) -> dict[str, PersonalDataMark]:
    """Return the marks of nodes by what was found."""
    # An answer has no dataset.
    wanted = set(urns) - {""}
    states: dict[str, State] = {}
    classes: dict[str, set[str]] = {}
    for one in found:
        for urn in wanted.intersection((one.urn, one.dataset)):
            state = states.get(urn)
            if state is None or one.state < state:
                states[urn], classes[urn] = one.state, {one.classification}
            elif one.state == state:
                classes[urn].add(one.classification)
    return {urn: PersonalDataMark(states[urn], tuple(sorted(classes[urn]))) for urn in states}
