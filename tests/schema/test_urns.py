"""Urns: they decode to any name, differ for different nodes, and are never too long for an
index.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.errors import QueryError
from headwater.schema import urns
from headwater.schema.urns import (
    DISPLAY_BYTES_MAX,
    URN_BYTES_MAX,
    Urn,
    answer_urn,
    artifact_urn,
    canonical_run_id,
    column_urn,
    dataset_urn,
    display_name,
    is_uuid,
    job_urn,
    parse_urn,
    run_urn,
    source_urn,
)

UUID = "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"
parts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)
tricky = st.text(st.sampled_from(":%/#\\ \x00é日😀a"), min_size=1, max_size=12)
names = st.one_of(parts, tricky)


@given(names, names)
@example("s3://lake", "a:b%3A/c#d")
@example(":", "%3A")
@example("#", "#")
def test_dataset_and_job_urns_come_back_exactly(namespace: str, name: str) -> None:
    assert parse_urn(dataset_urn(namespace, name)) == Urn("dataset", (namespace, name))
    assert parse_urn(job_urn(namespace, name)) == Urn("job", (namespace, name))
    assert parse_urn(source_urn(namespace, name)) == Urn("source", (namespace, name))


@given(names, names, names)
def test_urns_of_three_parts_come_back_exactly(namespace: str, name: str, last: str) -> None:
    assert parse_urn(column_urn(namespace, name, last)) == Urn("column", (namespace, name, last))
    version = parse_urn(artifact_urn(namespace, name, last))
    assert version == Urn("artifact", (namespace, name, canonical_run_id(last)))


@given(names)
def test_run_and_answer_urns_come_back_exactly(name: str) -> None:
    assert parse_urn(answer_urn(name)) == Urn("answer", (name,))
    assert parse_urn(run_urn(name)) == Urn("run", (canonical_run_id(name),))


@given(st.tuples(names, names), st.tuples(names, names))
@example(("a", "b:c"), ("a:b", "c"))
@example(("a:", "b"), ("a", ":b"))
@example(("a", "b"), ("a", "b "))
@example(("A", "b"), ("a", "b"))
def test_different_names_have_different_urns(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (dataset_urn(*one) == dataset_urn(*other)) == (one == other)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=3), st.integers(700, 70_000))
def test_a_long_name_is_hashed_always_to_the_same(piece: str, times: int) -> None:
    name = piece * times
    urn = dataset_urn("db", name)
    assert len(urn.encode()) <= URN_BYTES_MAX
    assert urn == dataset_urn("db", name)
    assert urn != dataset_urn("db", name + "x")
    assert parse_urn(urn).kind == "dataset"


def test_the_first_hashed_length() -> None:
    longest = "n" * (URN_BYTES_MAX - len("dataset:db:"))
    assert dataset_urn("db", longest) == f"dataset:db:{longest}"
    hashed = dataset_urn("db", longest + "n")
    assert hashed.startswith("dataset:#")
    assert len(hashed) == len("dataset:#") + 64
    assert parse_urn(hashed) == Urn("dataset", ())
    assert dataset_urn("#", "n").startswith("dataset:%23:"), (
        "no spelled urn looks like a hashed one"
    )


def test_urns_are_spelled_as_documented() -> None:
    assert dataset_urn("s3://lake", "flights/clean") == "dataset:s3%3A//lake:flights/clean"
    assert column_urn("file", "/raw/planes", "tailnum") == "column:file:/raw/planes:tailnum"
    assert artifact_urn("file", "/marts/delay", UUID) == f"artifact:file:/marts/delay:{UUID}"


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        (UUID, UUID),
        (UUID.upper(), UUID),
        ("0198C2F4-7b1c-7D3E-9f00-AABBccddeeff", UUID),
        # Python's UUID accepts all of these; as run ids they are different texts, so different
        # runs.
        (UUID.replace("-", ""), UUID.replace("-", "")),
        (f"{{{UUID}}}", f"{{{UUID}}}"),
        ("----" + UUID.replace("-", "").upper(), "----" + UUID.replace("-", "").upper()),
        ("0_1_2_3_4_5_6_7-0000-0000-0000-0000000", "0_1_2_3_4_5_6_7-0000-0000-0000-0000000"),
        ("scheduled__2026-01-01T00:00:00+00:00", "scheduled__2026-01-01T00:00:00+00:00"),
        ("Run-1", "Run-1"),
    ],
)
def test_one_spelling_per_run(spelling: str, canonical: str) -> None:
    assert canonical_run_id(spelling) == canonical
    assert run_urn(spelling) == run_urn(canonical)


@given(st.uuids())
def test_every_uuid_is_one_run_however_it_is_written(uuid: object) -> None:
    assert is_uuid(str(uuid))
    assert run_urn(str(uuid).upper()) == run_urn(str(uuid)) == f"run:{uuid}"


@pytest.mark.parametrize(
    "urn",
    [
        "",
        "dataset",
        "dataset:",
        "dataset:a",
        "dataset:a:b:c",
        "dataset::b",
        "table:a:b",
        "run:",
        "run:a:b",
        "Dataset:a:b",
    ],
)
def test_a_malformed_urn_is_refused_with_its_fault(urn: str) -> None:
    with pytest.raises(QueryError, match=r"is not a") as refusal:
        parse_urn(urn)
    assert refusal.value.hint


@given(st.text(st.characters(codec="utf-8"), max_size=20_000))
@example("n" * DISPLAY_BYTES_MAX)
@example("é" * DISPLAY_BYTES_MAX)
def test_a_name_is_shown_whole_unless_no_index_would_take_it(name: str) -> None:
    assert len(display_name(name).encode()) <= DISPLAY_BYTES_MAX
    assert (display_name(name) == name) == (len(name.encode()) <= DISPLAY_BYTES_MAX)


def test_long_names_that_begin_alike_are_shown_differently() -> None:
    assert display_name("n" * 10_000) != display_name("n" * 10_001)
    assert display_name("n" * 10_000).startswith("n" * 500 + "…")


@given(st.lists(st.integers(1, 1_000), min_size=2, max_size=4), st.sampled_from(["a", ":", "é"]))
def test_a_long_urn_is_the_hash_of_the_spelled_one(lengths: list[int], piece: str) -> None:
    kind = {2: "dataset", 3: "column", 4: "artifact"}[len(lengths)]
    parts = [piece * length for length in lengths]
    spelled = ":".join([kind, *(quote(part, safe="/") for part in parts)])
    hashed = f"{kind}:#{hashlib.sha256(spelled.encode()).hexdigest()}"
    expected = spelled if len(spelled) <= URN_BYTES_MAX else hashed
    assert urns._cached_urn(kind, *parts) == urns._urn(kind, *parts) == expected


def test_the_parts_of_a_long_name_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []

    def noted(text: str, safe: str) -> str:
        encoded.append(len(text))
        return quote(text, safe=safe)

    monkeypatch.setattr(urns, "quote", noted)
    namespace, name, run = "n" * 400, "x" * 5_000, "r" * 3_000
    columns = {column_urn(namespace, name, f"c{number}") for number in range(100)}
    versions = {artifact_urn("db", f"t{number}", run) for number in range(100)}
    assert len(columns | versions) == 200
    assert sorted(length for length in encoded if length > 100) == [400, 3_000, 5_000]


def test_a_run_id_of_a_megabyte_stands_in_urns_by_its_hash() -> None:
    longest, too_long = ":" * 65_536, ":" * 65_537
    assert run_urn(longest).startswith("run:#")
    hashed = hashlib.sha256(too_long.encode()).hexdigest()
    assert run_urn(too_long) == f"run:%23{hashed}"
    assert artifact_urn("db", "t", too_long, 5) == f"artifact:db:t:%23{hashed}:5"
    assert run_urn(too_long + ":") != run_urn(too_long)
