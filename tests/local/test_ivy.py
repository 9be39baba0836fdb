"""Pinned jars: their Maven coordinates and file names.

tests/local/test_jars.py fetches real ones.
"""

from __future__ import annotations

from headwater.local.ivy import Jar


def test_coordinates_and_file_name() -> None:
    plain = Jar("org.example", "lib", "1.0", "", "hash", 1)
    assert (plain.coordinates, plain.file_name) == ("org.example:lib:1.0", "lib-1.0.jar")
    native = Jar("org.example", "lib", "1.0", "linux", "hash", 1)
    assert native.coordinates == "org.example:lib:1.0:linux"
    assert native.file_name == "lib-1.0-linux.jar"
