"""The scale of `make torture`, and the mark of tests that take minutes, which CI leaves out.

The make target sets FAULT_SCALE to 10. Without it, the scale is that of CI: 1.
"""

from __future__ import annotations

import os

import pytest

FAULT_SCALE = int(os.environ.get("FAULT_SCALE", "1"))
in_torture_only = pytest.mark.skipif(
    FAULT_SCALE == 1, reason="it takes minutes: FAULT_SCALE=2 or more"
)
