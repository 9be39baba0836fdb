"""A walk that follows links: each folder once, and none that is too wide."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.forgetting.linked_walk import files_below, is_of_system, walk


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
