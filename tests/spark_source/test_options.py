"""Options of reads and writes: defaults from the environment, and errors that name the option."""

from __future__ import annotations

import pytest

from headwater.errors import SettingsError
from headwater.spark_source.options import read_options, write_options

ENVIRONMENT = {"HEADWATER_NEO4J_PASSWORD": "secret", "HEADWATER_API_KEY": "key"}


def test_a_read_takes_defaults_from_the_environment() -> None:
    options = read_options({"kind": "RUNS"}, ENVIRONMENT)
    assert (options.kind, options.password, options.partitions) == ("runs", "secret", 0)
    assert "secret" not in repr(options)
    options = read_options(
        {"kind": "lineage", "urn": "u", "direction": "upstream", "depth": "3", "seconds": "1.5"},
        ENVIRONMENT,
    )
    assert (options.direction, options.depth, options.seconds) == ("UPSTREAM", 3, 1.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "option 'kind' is missing"),
        ({"kind": "run"}, "Did you mean 'runs'?"),
        ({"kind": "runs", "partition": "2"}, "Did you mean 'partitions'?"),
        ({"kind": "runs", "partitions": "0"}, "is not a number from 1 to 10000"),
        ({"kind": "runs", "seconds": "-1"}, "is not a number of seconds above 0"),
        ({"kind": "runs", "url": "http://x"}, "is not an address of Neo4j"),
        ({"kind": "runs", "url": "bolt://me:secret@x"}, "must not hold a user or a password"),
        ({"kind": "runs", "depth": "2"}, "option 'depth' is not an option of a read of runs"),
        ({"kind": "lineage"}, "option 'urn' is missing"),
        ({"kind": "lineage", "urn": "u", "direction": "left"}, "is not one of UPSTREAM"),
    ],
)
def test_a_wrong_read_names_the_option(options: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_options(options, ENVIRONMENT)
    assert message in caught.value.message


def test_a_write_takes_its_key_from_the_environment() -> None:
    options = write_options({"kind": "Tags"}, ENVIRONMENT)
    assert (options.kind, options.access_key) == ("tags", "key")
    assert options.url == "http://127.0.0.1:8000"
    with pytest.raises(SettingsError, match="'runs' cannot be written, only answers and tags"):
        write_options({"kind": "runs"}, ENVIRONMENT)
    with pytest.raises(SettingsError, match="is not an option of a write of tags"):
        write_options({"kind": "tags", "depth": "1"}, ENVIRONMENT)
