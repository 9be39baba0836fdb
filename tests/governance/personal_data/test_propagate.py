"""How personal data propagates, on small graphs worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.governance.personal_data.propagate import (
    Citation,
    ColumnEdge,
    Crossing,
    DatasetLinks,
    Kind,
    PersonalDataGraph,
    Reached,
    Root,
    State,
    propagate,
    state_of,
    with_datasets,
)

COPY, MASK, FILTER = "DIRECT:IDENTITY", "DIRECT:TRANSFORMATION:masked", "INDIRECT:FILTER"


def column(dataset: str, name: str = "mail") -> str:
    return f"column:db:{dataset}:{name}"


def urn(dataset: str) -> str:
    return f"dataset:db:{dataset}"


def edge(source: str, target: str, *kinds: str, job: str = "job:etl:j") -> ColumnEdge:
    return ColumnEdge(column(source), column(target), urn(target), job, kinds or (COPY,))


def graph(
    *edges: ColumnEdge,
    roots: Sequence[str] = ("a",),
    crossings: Sequence[tuple[str, str]] = (),
    citations: Sequence[tuple[str, Citation]] = (),
    kinds: dict[str, Kind] | None = None,
    **more: object,
) -> PersonalDataGraph:
    names = {one.source.split(":")[2] for one in edges} | {
        one.target.split(":")[2] for one in edges
    }
    names |= {
        *roots,
        *(name for pair in crossings for name in pair),
        *(name for name, _ in citations),
    }
    datasets = {
        urn(name): DatasetLinks(
            urn(name),
            kind=(kinds or {}).get(name, Kind.DATASET),
            edges=[one for one in edges if one.source.split(":")[2] == name],
            crossings=[Crossing("job:etl:x", urn(to), False) for by, to in crossings if by == name],
            citations=[one for by, one in citations if by == name],
        )
        for name in names
    }
    found = [Root(column(name), urn(name), "email") for name in roots]
    return PersonalDataGraph(datasets, found, **more)  # type: ignore[arg-type]


def states(found: Sequence[Reached]) -> dict[str, State]:
    return {one.urn: one.state for one in found}


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((), State.EXPOSED),
        ((COPY,), State.EXPOSED),
        ((COPY, MASK), State.EXPOSED),
        ((FILTER, MASK), State.INFLUENCED),
        ((MASK,), State.MASKED),
        (("INDIRECT:JOIN:masked",), State.MASKED),
        (("DIRECT:MASKED_NAME",), State.EXPOSED),
    ],
)
def test_a_step_has_the_state_of_its_most_exposing_transformation(
    kinds: tuple[str, ...], expected: State
) -> None:
    assert state_of(kinds) is expected


def test_values_are_followed_until_a_masking_step() -> None:
    found = propagate(graph(edge("a", "b"), edge("b", "c", MASK), edge("c", "d")))
    assert states(found) == {
        column("a"): State.EXPOSED,
        column("b"): State.EXPOSED,
        column("c"): State.MASKED,
        column("d"): State.MASKED,
    }
    last = found[-1]
    assert last.path == [column("a"), column("b"), column("c"), column("d")]
    assert [step.job for step in last.steps] == ["job:etl:j"] * 3
    assert last.steps[1].transformations == (MASK,)


def test_an_unmasked_way_counts_over_a_shorter_masked_one() -> None:
    found = propagate(graph(edge("a", "d", MASK), edge("a", "b"), edge("b", "c"), edge("c", "d")))
    [at] = [one for one in found if one.urn == column("d")]
    assert (at.state, len(at.steps)) == (State.EXPOSED, 3)


def test_a_filter_is_an_influence_and_no_exposure() -> None:
    found = propagate(graph(edge("a", "b", FILTER), edge("b", "c")))
    assert states(found)[column("c")] is State.INFLUENCED


def test_a_job_without_columns_is_unknown() -> None:
    found = propagate(graph(edge("b", "c"), crossings=[("a", "b")]))
    assert states(found) == {
        column("a"): State.EXPOSED,
        urn("b"): State.UNKNOWN,
        column("c"): State.UNKNOWN,
    }


def test_a_model_without_columns_that_is_trained_on_the_dataset_is_exposed() -> None:
    found = propagate(graph(crossings=[("a", "m")], kinds={"m": Kind.MODEL}))
    assert states(found)[urn("m")] is State.EXPOSED


def test_a_model_behind_a_masking_step_is_masked() -> None:
    found = propagate(graph(edge("a", "b", MASK), crossings=[("b", "m")], kinds={"m": Kind.MODEL}))
    assert states(found)[urn("m")] is State.MASKED


def test_an_answer_is_reached_over_its_citations() -> None:
    cites = [
        ("a", Citation("answer:of-dataset")),
        ("a", Citation("answer:of-column", column("a"))),
        ("a", Citation("answer:of-other", column("a", "id"))),
    ]
    found = propagate(graph(citations=cites, citing={"answer:of-column": ["answer:second"]}))
    assert states(found) == {
        column("a"): State.EXPOSED,
        "answer:of-dataset": State.EXPOSED,
        "answer:of-column": State.EXPOSED,
        "answer:second": State.EXPOSED,
    }


def test_a_declassified_column_ends_the_path() -> None:
    approved = {column("b"): frozenset({"email"})}
    found = propagate(graph(edge("a", "b"), edge("b", "c"), declassified=approved))
    assert states(found) == {column("a"): State.EXPOSED, column("b"): State.DECLASSIFIED}


def test_the_approval_of_another_class_changes_nothing() -> None:
    approved = {column("b"): frozenset({"phone"})}
    found = propagate(graph(edge("a", "b"), declassified=approved))
    assert states(found)[column("b")] is State.EXPOSED


def test_a_declassified_dataset_covers_its_columns_and_the_generic_class_every_class() -> None:
    approved = {urn("b"): frozenset({"pii"})}
    found = propagate(graph(edge("a", "b"), edge("b", "c"), declassified=approved))
    assert states(found) == {column("a"): State.EXPOSED, column("b"): State.DECLASSIFIED}


def test_a_classified_column_that_another_one_feeds_is_reached() -> None:
    found = propagate(graph(edge("a", "b"), edge("b", "c"), roots=("a", "b")))
    steps = {one.urn: len(one.steps) for one in found}
    assert steps == {column("a"): 0, column("b"): 1, column("c"): 1}


def test_a_cycle_ends() -> None:
    found = propagate(graph(edge("a", "b"), edge("b", "a")))
    assert {one.urn: len(one.steps) for one in found} == {column("a"): 0, column("b"): 1}


def test_a_dataset_is_reached_with_its_columns() -> None:
    one = graph(edge("a", "b"), edge("b", "e"), kinds={"e": Kind.EXPORT})
    found = with_datasets(one, propagate(one))
    assert states(found) == {
        column("a"): State.EXPOSED,
        column("b"): State.EXPOSED,
        urn("b"): State.EXPOSED,
        column("e"): State.EXPOSED,
        urn("e"): State.EXPOSED,
    }


def test_a_removed_column_is_left_out_and_a_struct_stands_for_its_fields() -> None:
    one = graph(edge("a", "b"))
    one.datasets[urn("b")].columns = frozenset({"id"})
    assert column("b") not in states(propagate(one))
    one.datasets[urn("b")].columns = frozenset({"id", "mail.address"})
    assert column("b") in states(propagate(one))
    one.datasets[urn("b")].columns = frozenset({"mail"})
    assert column("b") in states(propagate(one))


edges_of_graphs = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from("abcdef"),
        st.sampled_from([COPY, MASK, FILTER, None]),
    ),
    max_size=14,
)


def built(ways: list[tuple[str, str, str | None]]) -> PersonalDataGraph:
    edges = [edge(one, two, kind) for one, two, kind in ways if kind is not None]
    return graph(*edges, crossings=[(one, two) for one, two, kind in ways if kind is None])


@given(edges_of_graphs, st.randoms())
def test_the_order_and_copies_of_edges_change_nothing(
    ways: list[tuple[str, str, str | None]], random: object
) -> None:
    shuffled = ways * 2
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert states(propagate(built(ways))) == states(propagate(built(shuffled)))


@given(edges_of_graphs, st.integers(0, 13))
def test_one_more_masking_step_never_exposes_more(
    ways: list[tuple[str, str, str | None]], at: int
) -> None:
    before = states(propagate(built(ways)))
    masked = [(*way[:2], MASK) if n == at and way[2] else way for n, way in enumerate(ways)]
    after = states(propagate(built(masked)))
    assert after.keys() <= before.keys()
    assert all(after[node] >= before[node] for node in after)


@given(edges_of_graphs)
def test_a_state_is_the_best_of_all_paths(ways: list[tuple[str, str, str | None]]) -> None:
    one = built(ways)
    found = {each.urn: each for each in propagate(one)}
    for each in found.values():
        worst = max((step.state for step in each.steps), default=State.EXPOSED)
        assert each.state == worst
        assert each.path[0] == column("a")
