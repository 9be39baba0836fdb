"""Joins of facts, worked out by hand; tests/properties checks their laws for any history."""

from __future__ import annotations

from headwater.schema.delta import GraphDelta, absorb, join
from headwater.schema.facts import (
    INSTANTS_MAX,
    AnswerFacts,
    Assertion,
    ColumnKey,
    DatasetFacts,
    Derivation,
    JobFacts,
    LwwRegister,
    Name,
    RunFacts,
    Span,
    Usage,
    join_answers,
    join_datasets,
    join_derivations,
    join_jobs,
    join_registers,
    join_spans,
    join_usages,
)
from headwater.schema.run_senders import join_runs

T, A, B = Name("db", "t"), Name("db", "a"), Name("db", "b")


def test_spans_grow_to_both_ends() -> None:
    assert join_spans(Span(2, 3), Span(1, 2)) == Span(1, 3)
    assert join_spans(Span(1, 9), Span(2, 3)) == Span(1, 9)
    assert join_spans(None, Span(4, 4)) == Span(4, 4)
    assert join_spans(Span(4, 4), None) == Span(4, 4)
    assert join_spans(None, None) is None


def test_of_two_values_the_later_stays_then_the_higher_rank_then_the_greater_text() -> None:
    low = {"schema": LwwRegister(1, 2, "z")}
    assert join_registers(low, {"schema": LwwRegister(2, 0, "a")}) == {
        "schema": LwwRegister(2, 0, "a")
    }
    assert join_registers(low, {"schema": LwwRegister(1, 0, "~")}) == low
    assert join_registers(low, {"schema": LwwRegister(1, 2, "y")}) == low
    assert join_registers(low, {"sql": LwwRegister(0, 0, "")}) == {
        **low,
        "sql": LwwRegister(0, 0, ""),
    }


def test_a_deletion_lasts_until_a_later_value() -> None:
    deleted = {"schema": LwwRegister(5, 0, "")}
    assert join_registers(deleted, {"schema": LwwRegister(4, 2, "{}")}) == deleted
    assert join_registers(deleted, {"schema": LwwRegister(6, 0, "{}")}) == {
        "schema": LwwRegister(6, 0, "{}")
    }


def test_a_run_is_the_union_over_its_events() -> None:
    start = RunFacts(
        "r",
        Span(1, 1),
        {(1, "START")},
        {"job:e:j": Name("e", "j")},
        inputs={"dataset:db:a": Usage(A)},
    )
    end = RunFacts(
        "r",
        Span(3, 3),
        {(3, "FAIL")},
        parents={"run:p": "p"},
        outputs={"dataset:db:t": Usage(T, derived={A})},
    )
    assert join_runs(start, end) == RunFacts(
        "r",
        Span(1, 3),
        {(1, "START"), (3, "FAIL")},
        {"job:e:j": Name("e", "j")},
        {"run:p": "p"},
        inputs={"dataset:db:a": Usage(A)},
        outputs={"dataset:db:t": Usage(T, derived={A})},
    )


def test_usages_of_one_dataset_unite_its_derivations() -> None:
    one = Usage(T, {"outputStatistics": LwwRegister(1, 0, "1")}, derived={A})
    other = Usage(T, {"outputStatistics": LwwRegister(2, 2, "2")}, derived={B})
    assert join_usages(one, other) == Usage(
        T, {"outputStatistics": LwwRegister(2, 2, "2")}, derived={A, B}
    )


def test_datasets_jobs_and_flows() -> None:
    assert join_datasets(DatasetFacts(T), DatasetFacts(T, Span(1, 1))) == DatasetFacts(
        T, Span(1, 1)
    )
    inputs, outputs = {"a": Assertion(A, 1, 1)}, {"t": Assertion(T, 2, 2)}
    one, other = (
        JobFacts(Name("e", "j"), inputs=inputs),
        JobFacts(Name("e", "j"), Span(1, 2), outputs=outputs),
    )
    assert join_jobs(one, other) == JobFacts(
        Name("e", "j"), Span(1, 2), inputs=inputs, outputs=outputs
    )
    direct, indirect = frozenset({"DIRECT"}), frozenset({"INDIRECT"})
    assert join_derivations(Derivation(2, direct), Derivation(1, indirect)) == Derivation(
        1, direct | indirect
    )
    assert join_derivations(Derivation(1), Derivation(2, direct)) == Derivation(1, direct)


def test_an_answer_that_was_only_cited_takes_its_later_facts() -> None:
    answer_facts = AnswerFacts("a", LwwRegister(1, 1, "{}"))
    assert join_answers(AnswerFacts("a"), answer_facts) == answer_facts
    assert join_answers(answer_facts, AnswerFacts("a")) == answer_facts
    assert join_answers(answer_facts, AnswerFacts("a", LwwRegister(2, 1, ""))) == AnswerFacts(
        "a", LwwRegister(2, 1, "")
    )


def test_joining_leaves_its_arguments_alone() -> None:
    key = ColumnKey(A, "x", T, "y", "")
    one = GraphDelta(
        runs={"run:r": RunFacts("r", states={(1, "START")})},
        columns={key: Derivation(1, frozenset({"DIRECT"}))},
    )
    other = GraphDelta(
        runs={"run:r": RunFacts("r", states={(2, "FAIL")})},
        columns={key: Derivation(2, frozenset({"MASK"}))},
    )
    joined = join(one, other)
    assert joined.runs["run:r"].states == {(1, "START"), (2, "FAIL")}
    assert joined.columns[key] == Derivation(1, frozenset({"DIRECT", "MASK"}))
    assert one.runs["run:r"].states == {(1, "START")}
    assert other.columns[key] == Derivation(2, frozenset({"MASK"}))


def test_absorbing_is_joining_in_place() -> None:
    into = GraphDelta(datasets={"d": DatasetFacts(T, Span(1, 1))})
    more = GraphDelta(datasets={"d": DatasetFacts(T, Span(2, 2)), "a": DatasetFacts(A)})
    expected = join(into, more)
    absorb(into, more)
    assert into == expected


def test_the_newest_captures_and_generations_stay() -> None:
    many = DatasetFacts(T, captures=set(range(INSTANTS_MAX)))
    joined = join_datasets(many, DatasetFacts(T, captures={5, INSTANTS_MAX}))
    assert joined.captures == set(range(1, INSTANTS_MAX + 1))
    first, second = AnswerFacts("a", generated={1}), AnswerFacts("a", generated={2})
    assert join_answers(first, second).generated == {1, 2}
