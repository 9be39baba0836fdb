"""The mark of tests that take minutes and have shorter ones beside them.

`make torture` runs them, and CI does not.
"""

from __future__ import annotations

import os

import pytest

in_torture_only = pytest.mark.skipif(
    int(os.environ.get("FAULT_SCALE", "1")) == 1, reason="it takes minutes: FAULT_SCALE=2 or more"
)
