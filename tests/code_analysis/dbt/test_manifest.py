"""Full names of models in dbt's manifest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from headwater.code_analysis.dbt.manifest import read_catalog, read_full_names
from headwater.errors import QueryError

MODEL = {
    "resource_type": "model",
    "database": "shop",
    "schema": "marts",
    "name": "orders_v2",
    "alias": "Orders",
}


def test_models_by_file_name_and_alias(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    nodes = {
        "m": {**MODEL, "original_file_path": "models/orders_v2.sql"},
        "t": {"resource_type": "test", "name": "x"},
    }
    manifest.write_text(json.dumps({"nodes": nodes}))
    full = "shop.marts.Orders"
    assert read_full_names(manifest) == {
        "models/orders_v2.sql": full,
        "orders_v2": full,
        "orders": full,
    }


@pytest.mark.parametrize("content", ["", "[]", "{", "{}"])
def test_a_file_that_is_not_a_manifest_is_refused(tmp_path: Path, content: str) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(content)
    with pytest.raises(QueryError):
        read_full_names(manifest)


def test_a_missing_manifest_has_a_hint_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="cannot be read") as refused:
        read_full_names(tmp_path / "manifest.json")
    assert "dbt parse" in refused.value.hint


def test_a_model_without_a_name_has_no_full_name(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"nodes": {"m": {"resource_type": "model"}, "n": MODEL}}))
    assert set(read_full_names(manifest)) == {"orders_v2", "orders", "n"}


@pytest.mark.timeout(30)
def test_a_manifest_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(QueryError, match="no regular file"):
        read_full_names(tmp_path / "manifest.json")


def test_a_column_of_a_catalog_without_a_name_is_none() -> None:
    columns = {"x": {"name": None, "index": 1}, "y": {"name": "y", "index": 2}}
    node = {"metadata": {"schema": "s", "name": "t"}, "columns": columns}
    assert read_catalog(json.dumps({"nodes": {"m": node}})) == {("s", "t"): ["y"]}
