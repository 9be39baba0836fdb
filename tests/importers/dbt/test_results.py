"""Results of nodes: why dbt skipped one."""

from __future__ import annotations

import pytest

from headwater.importers.dbt.artifacts import Node, NodeResult
from headwater.importers.dbt.results import SkippedNodes


def test_skipped_models_do_not_look_at_each_failed_test(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [Node(f"test.shop.t{number}", "t", "test") for number in range(100)]
    models = [Node(f"model.shop.m{number}", "m", "model") for number in range(100)]
    reads: list[str] = []

    def counted_parents(node: Node) -> list[str]:
        reads.append(node.unique_id)
        return ["model.shop.a"]

    monkeypatch.setattr(Node, "parents", property(counted_parents))
    results = [NodeResult(one.unique_id, "fail") for one in checks]
    results += [NodeResult(one.unique_id, "skipped") for one in models]
    skipped = SkippedNodes({one.unique_id: one for one in (*checks, *models)}, results)
    named = sorted(one.unique_id for one in checks)[:10]
    expected = f"skipped because of {', '.join(named)}"
    assert {skipped.message(one) for one in models} == {expected}
    assert len(reads) < 5 * 200


def test_a_node_that_dbt_skipped_without_a_failure() -> None:
    node = Node("model.shop.a", "a", "model")
    results = [NodeResult("model.shop.a", "skipped")]
    assert SkippedNodes({"model.shop.a": node}, results).message(node) == "skipped"
