"""The standard output as a stream of bytes."""

from __future__ import annotations

import sys
from typing import BinaryIO

from headwater.errors import QueryError


def standard_output() -> BinaryIO:
    """Return the standard output. Raises QueryError if the caller has closed it."""
    # Python has no stream for a descriptor that is closed at its start.
    if sys.stdout is None:
        raise QueryError(
            "the standard output is closed", hint="Redirect it to a file, or to /dev/null."
        )
    return sys.stdout.buffer
