"""Whether a start of Neo4j failed because of damaged data, or because of the machine.

Neo4j reports both as a chain of Java exceptions. Damaged data does not heal: the graph is built
from the events again. A full disk or a lack of memory passes, and the data must be kept.
"""

from __future__ import annotations

_MACHINE = (
    "No space left on device",
    "out of disk space",
    "OutOfDiskSpace",
    "OutOfMemory",
    "Too many open files",
    "Permission denied",
    "AccessDenied",
    "Read-only file system",
    "FileLockException",
    "PortBindException",
    "Address already in use",
)
_DATA = (
    # The parts of a start that only read the data.
    "Failed to start DatabaseId",
    "DefaultSystemGraphInitializer",
    "recovery not possible",
    "Failed to read current store version",
    "UnderlyingStorageException",
    "InvalidRecordException",
    "StoreFailureException",
    "corrupt",
)


def lacks_resources(java_error: str) -> bool:
    """Return True if an error of Neo4j comes from the machine: disk, memory, ports or rights."""
    return any(mark in java_error for mark in _MACHINE)


def is_damage(java_error: str) -> bool:
    """Return True if an error of Neo4j at its start means that its data cannot be read."""
    return not lacks_resources(java_error) and any(mark in java_error for mark in _DATA)
