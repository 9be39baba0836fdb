"""Errors of real starts of Neo4j: of damaged data, and of a machine that lacks something."""

from __future__ import annotations

import pytest

from headwater.local.damage import is_damage, lacks_resources

START = (
    "java.lang.RuntimeException: Error starting Neo4j database server at data/databases\n"
    "org.neo4j.kernel.lifecycle.LifecycleException: Component 'org.neo4j.dbms.database."
    "DefaultSystemGraphInitializer@4ca461fd' was successfully initialized, but failed to start.\n"
)


@pytest.mark.parametrize(
    "cause",
    [
        "java.lang.IllegalStateException: Failed to load data from legacy metadata store",
        "java.lang.RuntimeException: Error reading transaction logs, recovery not possible.",
        "org.neo4j.internal.kernel.api.exceptions.EntityNotFoundException: Unable to load NODE 4:0.",
    ],
)
def test_data_that_cannot_be_read_is_damage(cause: str) -> None:
    assert is_damage(START + cause)


@pytest.mark.parametrize(
    "cause",
    [
        "java.io.IOException: No space left on device",
        "org.neo4j.io.pagecache.OutOfDiskSpaceException: System is out of disk space for a file",
        "java.nio.file.AccessDeniedException: data/databases/neo4j/neostore",
        "java.lang.OutOfMemoryError: Java heap space",
    ],
)
def test_a_lack_of_the_machine_is_none(cause: str) -> None:
    assert lacks_resources(cause)
    assert not is_damage(START + cause)


def test_another_error_is_neither() -> None:
    error = "java.lang.IllegalArgumentException: unrecognized setting"
    assert not is_damage(error)
    assert not lacks_resources(error)
