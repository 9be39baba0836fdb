"""The wheel: it holds every file that the program reads at run time, and the hooks need little of
it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.repo.repository import ROOT

# Modules that the base install lacks: `pip install headwater` on a Spark cluster brings none of
# them.
SERVER_ONLY = (
    "apsw",
    "mcp",
    "neo4j",
    "pandas",
    "prometheus_client",
    "rich",
    "starlette",
    "strawberry",
    "typer",
    "uvicorn",
)

HOOKS_ALONE = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in set(sys.argv[1:]):
            raise ModuleNotFoundError(f"absent: {name}", name=name)

sys.meta_path.insert(0, Absent())
import headwater, headwater.client
client = headwater.Client("http://127.0.0.1:9", timeout_seconds=1)
try:
    client.trace("a")
except headwater.errors.UnavailableError as error:
    assert error.hint
from headwater.client.results import Lineage
assert "<svg" in Lineage(starts=(), nodes=(), edges=(), truncated=False)._repr_html_()
from headwater import spark_hooks
conf = spark_hooks.spark_conf("http://127.0.0.1:9", spark_version="3.5.1")
assert "io.openlineage" in spark_hooks.as_submit_flags(conf)
print(headwater.__file__)
"""


def built(folder: Path) -> Path:
    """Return a wheel that was built into a folder."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(folder),
    ]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1764000000"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    (wheel,) = folder.glob("headwater-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


def test_a_second_build_has_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert built(tmp_path).read_bytes() == wheel.read_bytes()


def test_it_holds_every_file_read_at_run_time(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "headwater"
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours - inside == set()
    for ending in (
        ".cypher",
        "py.typed",
        "neo4j.lock",
        "FailureListener.java",
        "headwater-spark.jar",
        "graphiql.html",
        "LICENSE-graphiql",
    ):
        assert any(name.endswith(ending) for name in inside), ending


def test_it_holds_nothing_else(wheel: Path) -> None:
    inside = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in inside} == {"headwater", "headwater-0.1.0.dist-info"}
    assert {
        "headwater-0.1.0.dist-info/licenses/LICENSE",
        "headwater-0.1.0.dist-info/licenses/NOTICE",
    } <= set(inside)


def test_the_hooks_run_without_the_server_packages(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", HOOKS_ALONE, *SERVER_ONLY],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == str(tmp_path / "headwater" / "__init__.py")
