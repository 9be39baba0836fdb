"""The strongest evidence decides the mode of a write; equal questions share a hash."""

from __future__ import annotations

from itertools import permutations

import pytest

from headwater.schema.write_modes import inputs_hash, write_mode


@pytest.mark.parametrize(
    ("evidence", "mode"),
    [
        (set(), None),
        ({"appends"}, "append"),
        ({"overwrites"}, "overwrite"),
        ({"appends", "overwrites"}, "append"),
        ({"replaces", "appends"}, "overwrite"),
        ({"replaces", "overwrites"}, "overwrite"),
        ({"keeps", "replaces"}, "append"),
        ({"keeps", "overwrites", "replaces", "appends"}, "append"),
        ({"something else"}, None),
    ],
)
def test_the_strongest_evidence_decides(evidence: set[str], mode: str | None) -> None:
    for order in permutations(evidence):
        assert write_mode(order) == mode


def test_the_hash_is_of_the_job_and_the_set_of_its_inputs() -> None:
    one = inputs_hash("job:etl:load", ["dataset:db:a", "dataset:db:b"])
    assert one == inputs_hash("job:etl:load", ["dataset:db:b", "dataset:db:a"])
    others = {
        inputs_hash("job:etl:other", ["dataset:db:a", "dataset:db:b"]),
        inputs_hash("job:etl:load", ["dataset:db:a"]),
        inputs_hash("job:etl:load", []),
    }
    assert len(others | {one}) == 4
    # A name may hold half of a surrogate pair.
    assert len(inputs_hash("job:etl:\ud800", [])) == len(one) == 16
