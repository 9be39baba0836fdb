"""The demo empties only folders of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cli import demo
from headwater.errors import HomeInUseError


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    with pytest.raises(HomeInUseError, match="not of a demo"):
        demo.empty_home(tmp_path)
    assert precious.read_text() == "years of work"


def test_a_folder_of_an_earlier_demo_is_emptied(tmp_path: Path) -> None:
    demo.empty_home(tmp_path)
    (tmp_path / "flights").mkdir()
    (tmp_path / "flights" / "part-0").touch()
    (tmp_path / "spool.db").touch()
    demo.empty_home(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == [".headwater-demo"]
