"""The check and the gauges of policies."""

from __future__ import annotations

from pathlib import Path

from headwater.governance.policies.store import PolicyState, PolicyStore
from headwater.health.policies import PolicyMetrics, check_policies

ONE = "name: one\nrule: required-owners\n"


def gauges(store: PolicyStore) -> dict[str, float]:
    return {
        sample.name: sample.value
        for metric in PolicyMetrics(store).collect()
        for sample in metric.samples
    }


def test_a_broken_file_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(ONE)
    (tmp_path / "secret-name.yaml").write_text("name: [")
    store = PolicyStore(tmp_path)
    assert gauges(store) == {"headwater_policies": 1, "headwater_policies_broken_files": 1}
    check = check_policies(store.read())
    assert (check["ok"], check["reason"]) == (False, "files of policies that cannot be used: 1")
    # Anybody may ask whether a server is ready.
    assert "secret-name" not in str(check)


def test_right_files_are_counted_and_no_directory_has_no_gauge(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(ONE)
    store = PolicyStore(tmp_path)
    assert gauges(store) == {"headwater_policies": 1, "headwater_policies_broken_files": 0}
    assert check_policies(store.read()) == {"ok": True, "policies": 1}
    assert gauges(PolicyStore(None)) == {}
    assert check_policies(PolicyState()) == {"ok": True, "policies": 0}
