"""Keys and a log in a file of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.store import AccessStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def keys(store: AccessStore) -> Keys:
    return Keys(store)


@pytest.fixture
def log(store: AccessStore) -> AccessLog:
    return AccessLog(store)
