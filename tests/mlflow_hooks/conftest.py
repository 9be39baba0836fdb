"""A real MLflow for every test, in a folder of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.mlflow_hooks import delivery
from headwater.spark_hooks.send import RecentFailures
from tests.mlflow_hooks.stores import file_store


@pytest.fixture
def mlflow_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(delivery, "_recent_failures", RecentFailures())
    with file_store(tmp_path, "credit") as uri:
        yield uri
