"""Datasets of a training, from arguments and from MLflow's logged inputs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.client import Artifact, Source
from headwater.errors import SettingsError
from headwater.mlflow_hooks.datasets import logged, references, run_uuid

LAKE = {"namespace": "file", "name": "/lake/a"}


def test_each_dataset_is_referred_to_once_in_order() -> None:
    model = {"namespace": "mlflow://h", "name": "m", "type": "MODEL", "version": "3"}
    given: list[Any] = [Path("/lake/a"), "file:/lake/a", model, Source("db", "t")]
    assert references(given) == [LAKE, model, {"namespace": "db", "name": "t"}]
    artifact = Artifact("db", "t", "r")
    assert references([artifact]) == [{"namespace": "db", "name": "t", "runId": "r"}]


@pytest.mark.parametrize(
    "given",
    ["/lake/a", {"namespace": "db", "name": "t"}, [" "], [{"name": "t"}], [7], [{"a": "b"}]],
)
def test_another_value_is_refused(given: Any) -> None:
    with pytest.raises(SettingsError):
        references(given)


def test_a_logged_input_without_a_location_is_omitted() -> None:
    sources = [
        ("local", '{"uri": "/lake/a"}'),
        ("s3", '{"uri": "s3://lake/b"}'),
        ("code", '{"tags": {}}'),
        ("local", "no json"),
        ("local", "[]"),
    ]
    inputs = [
        SimpleNamespace(dataset=SimpleNamespace(source_type=kind, source=source))
        for kind, source in sources
    ]
    assert logged(inputs) == [LAKE, {"namespace": "s3://lake", "name": "b"}]


def test_an_mlflow_id_is_a_uuid_without_dashes() -> None:
    assert run_uuid("0198c2f47a3b7c119d5e6f1a2b3c4d5e") == "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"
    assert run_uuid("other") == run_uuid("other") != run_uuid("another")
