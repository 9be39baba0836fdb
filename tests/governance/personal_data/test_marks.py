"""The mark of a node: the most severe state of the personal data there, with its classes."""

from __future__ import annotations

from headwater.governance.personal_data.marks import PersonalDataMark, marks_of
from headwater.governance.personal_data.propagate import Reached, Root, State

TABLE, MAIL, PHONE, ANSWER = "dataset:db:t", "column:db:t:mail", "column:db:t:phone", "answer:a"


def reached(urn: str, classification: str, state: State, dataset: str = TABLE) -> Reached:
    return Reached(urn, dataset, state, Root(urn, dataset, classification))


FOUND = [
    reached(MAIL, "email", State.MASKED),
    reached(PHONE, "phone", State.UNKNOWN),
    reached(PHONE, "name", State.UNKNOWN),
    reached(ANSWER, "email", State.EXPOSED, dataset=""),
]


def test_a_dataset_has_the_most_severe_state_of_its_columns() -> None:
    found = marks_of(FOUND, [TABLE, MAIL, PHONE, ANSWER, "dataset:db:other"])
    assert found == {
        TABLE: PersonalDataMark(State.UNKNOWN, ("name", "phone")),
        MAIL: PersonalDataMark(State.MASKED, ("email",)),
        PHONE: PersonalDataMark(State.UNKNOWN, ("name", "phone")),
        ANSWER: PersonalDataMark(State.EXPOSED, ("email",)),
    }
    assert marks_of(reversed(FOUND), list(found)) == found


def test_only_the_wanted_nodes_have_marks() -> None:
    assert marks_of(FOUND, [MAIL]) == {MAIL: PersonalDataMark(State.MASKED, ("email",))}
    assert marks_of(FOUND, []) == {}
    assert marks_of(FOUND, [""]) == {}
