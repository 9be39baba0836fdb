"""The completeness of model versions."""

from __future__ import annotations

import pytest

from headwater.health.figures.models import known_origins, model_versions
from headwater.lineage.view import GraphView
from tests.run_builders import ds, version


@pytest.mark.neo4j
def test_a_version_from_nothing_is_incomplete(story: GraphView) -> None:
    found = model_versions(story)
    assert [(one.urn, one.dataset, one.known, one.versions) for one in found] == [
        # Behind it: mart, orders and raw.
        (version("model", "t2"), ds("model"), 4, 4),
        (version("oracle", "g1"), ds("oracle"), 0, 1),
        (version("model", "t1"), ds("model"), 4, 4),
    ]
    assert [one.completeness for one in found] == [1, 0, 1]


@pytest.mark.parametrize(
    ("nodes", "edges", "known"),
    [
        (["source:a"], [], (1, 1)),
        (["artifact:a", "run:1", "source:b"], [("run:1", "artifact:a"), ("source:b", "run:1")],
         (2, 2)),
        (["artifact:a", "run:1"], [("run:1", "artifact:a")], (0, 1)),
        (["artifact:a", "artifact:b"], [("artifact:b", "artifact:a")], (0, 2)),
        (["artifact:a", "hidden:1"], [("hidden:1", "artifact:a")], (0, 2)),
    ],
)  # fmt: skip
def test_an_origin_is_known_by_a_run_that_read_something(
    nodes: list[str], edges: list[tuple[str, str]], known: tuple[int, int]
) -> None:
    assert known_origins(nodes, edges) == known
