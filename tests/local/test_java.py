"""Finding Java: the real one of this machine, and folders that hold something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import JavaError
from headwater.local import java
from headwater.local.java import find_java, java_version, parse_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx=y\nopenjdk version "25.0.1" 2025-10-21', 25),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_version_is_parsed(text: str, version: int | None) -> None:
    assert parse_version(text) == version


def test_this_machine_has_a_java() -> None:
    found = find_java()
    assert found.version in (17, 21)
    assert java_version(found.program) == found.version
    assert (found.home / "bin" / "java").exists()


def script(folder: Path, text: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return folder


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    home = script(tmp_path / "home", "echo 'openjdk version \"21.0.1\"' >&2")
    on_path = script(tmp_path / "path", "echo 'openjdk version \"17.0.1\"' >&2")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})
    assert (found.version, found.program) == (21, home / "bin" / "java")


def test_an_unusable_java_home_is_passed_over(tmp_path: Path) -> None:
    too_new = script(tmp_path / "new", "echo 'openjdk version \"25\"' >&2")
    on_path = script(tmp_path / "path", "echo 'openjdk version \"17.0.1\"' >&2")
    found = find_java({"JAVA_HOME": str(too_new), "PATH": str(on_path / "bin")})
    assert found.version == 17


def test_without_java_the_hint_names_an_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "USUAL_FOLDERS", ())
    stub = script(tmp_path / "stub", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    with pytest.raises(JavaError, match=r"this machine has no Java 17 or 21$") as caught:
        find_java({"PATH": str(stub / "bin")})
    for word in ("apt install openjdk-17-jre-headless", "brew install openjdk@17", "dnf install"):
        assert word in caught.value.hint


def test_a_java_of_another_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "USUAL_FOLDERS", ())
    newer = script(tmp_path / "newer", "echo 'openjdk version \"25\"' >&2")
    with pytest.raises(JavaError, match="found only version 25"):
        find_java({"PATH": str(newer / "bin")})
