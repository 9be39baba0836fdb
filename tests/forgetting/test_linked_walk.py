"""Links in a home: each folder is entered once, none that is too wide, and nothing is removed."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.forgetting.linked_walk import files_below, is_of_system, walk
from headwater.settings import Settings
from tests.forgetting.test_forget import VALUE, bodies_of, forget, holding, settings  # noqa: F401


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a folder with links to another one, to itself and to what contains it."""
    for name in ("top/inner", "outer/deep"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("x")
    top = tmp_path / "top"
    for name, target in {
        "a": tmp_path / "outer",
        "b": tmp_path / "outer",
        "inner/up": top,
        "inner/self": top / "inner" / "self",
        "inner/file link": tmp_path / "outer" / "deep" / "file",
    }.items():
        (top / name).symlink_to(target)
    (tmp_path / "outer" / "deep" / "loop").symlink_to(tmp_path / "outer")
    (tmp_path / "outer" / "wide").symlink_to(tmp_path)
    return top


def test_each_folder_is_entered_once(top: Path) -> None:
    problems: dict[Path, str] = {}
    folders = [here for here, _, _ in walk(top, problems.__setitem__)]
    [link] = problems
    assert link.name == "wide"
    assert problems[link] == f"this link leads to {top.parent}, which is too wide to be searched"
    reals = [str(folder.resolve().relative_to(top.parent)) for folder in folders]
    assert sorted(reals) == ["outer", "outer/deep", "top", "top/inner"]


def test_files_behind_links_are_yielded(top: Path) -> None:
    names = sorted(path.name for path in files_below(top))
    assert names == ["file", "file", "file link"]


def test_a_folder_that_the_caller_removes_is_not_entered(top: Path) -> None:
    for _, names, _ in walk(top):
        names.clear()
    folders = []
    for here, names, _ in walk(top):
        folders.append(here)
        names[:] = [name for name in names if name == "inner"]
    assert folders == [top, top / "inner"]


@pytest.mark.parametrize(
    ("path", "expected"), [("/etc/passwd", True), ("/usr", True), ("/user", False), ("/", False)]
)
def test_folders_of_the_system(path: str, expected: bool) -> None:
    assert is_of_system(Path(path)) is expected


def test_what_links_in_the_home_name_is_rewritten_there(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    home, disk = settings.home_path, tmp_path / "disk"
    (home / "evidence").rename(disk)
    (home / "evidence").symlink_to(disk)
    (home / "serve.log").rename(tmp_path / "serve.log")
    (home / "serve.log").symlink_to(tmp_path / "serve.log")
    # The same file and folder again, loops, and a store.
    (disk / "again.log").symlink_to(tmp_path / "serve.log")
    (disk / "loop").symlink_to(disk)
    (disk / "home").symlink_to(home)
    (home / "none").symlink_to(tmp_path / "none")
    (home / "again").symlink_to(disk)
    (home / "spool link").symlink_to(settings.spool_path)
    (disk / f"of {VALUE}").mkdir()
    forget(settings, VALUE, "--dry-run")
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, facts["problems"]) == (0, [])
    counts = facts["counts"]
    assert (counts["files rewritten"], counts["files renamed"], counts["files removed"]) == (
        4,
        1,
        1,
    )
    assert holding(tmp_path) == []
    for link in ("evidence", "serve.log", "spool link"):
        assert (home / link).is_symlink()
    assert len(bodies_of(settings)) == 7


def test_nothing_outside_of_the_home_is_removed(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "disk").mkdir()
    other = tmp_path / "disk" / "table.parquet"
    pq.write_table(pa.table({"a": [VALUE]}), other)
    (settings.home_path / "disk").symlink_to(tmp_path / "disk")
    code, facts = forget(settings, VALUE, "--yes")
    problem = "it has the value, and is outside of the home: remove it"
    assert (code, facts["problems"]) == (1, [{"path": str(other), "problem": problem}])
    assert other.exists()


@pytest.mark.parametrize("target", ["/", "..", "/etc", "/usr/share", "/var/lib", "/run", "~"])
def test_a_link_to_a_wide_folder_is_a_problem(
    settings: Settings,  # noqa: F811
    target: str,
) -> None:
    link = settings.home_path / "link"
    link.symlink_to(os.path.expanduser(target))
    code, facts = forget(settings, VALUE, "--yes")
    [problem] = facts["problems"]
    assert (code, problem["path"]) == (1, str(link))
    assert problem["problem"].endswith("which is too wide to be searched")
    assert holding(settings.home_path) == []


def test_what_the_data_of_neo4j_names_by_a_link_is_a_problem(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log").write_text(VALUE)
    (settings.home_path / "data").mkdir()
    (settings.home_path / "data" / "transactions").symlink_to(tmp_path / "logs")
    code, facts = forget(settings, VALUE, "--yes")
    assert (code, facts["counts"]["files of the graph"]) == (1, 1)
    assert [one["path"] for one in facts["problems"]] == [str(tmp_path / "logs")]
    assert not (settings.home_path / "data").exists()
