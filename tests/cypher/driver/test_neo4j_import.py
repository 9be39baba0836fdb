"""The driver is imported without the packages for data frames."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from headwater.cypher.driver.neo4j_import import neo4j
assert neo4j.GraphDatabase
print(sorted({"numpy", "pandas", "pyarrow"} & sys.modules.keys()))
import numpy
print(numpy.array([1]).sum())
"""


def test_data_frames_are_not_imported_and_can_be_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "1"]
