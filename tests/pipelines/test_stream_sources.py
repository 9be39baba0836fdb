"""Options of Spark's sources: secrets come from the environment or a file, never from arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.pipelines.stream_sources import read_options


def test_options_take_secrets_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hidden\n")
    options = [
        "kafka.security.protocol=SASL_SSL",
        "kafka.sasl.jaas.config=env:JAAS",
        f"kafka.ssl.truststore.password=file:{tmp_path / 'password'}",
        "minPartitions=4",
    ]
    assert read_options(options, {"JAAS": "a=b;"}) == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.jaas.config": "a=b;",
        "kafka.ssl.truststore.password": "hidden",
        "minPartitions": "4",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("kafka.sasl.jaas.config=user-and-hidden", "is a secret"),
        ("kafka.ssl.key.password=hidden", "is a secret"),
        ("kafka.ssl.keystore.key=hidden", "is a secret"),
        ("kafka.sasl.jaas.config=env:NONE", "no variable NONE"),
        ("kafka.ssl.key.password=file:/none", "cannot be read"),
        ("minPartitions", "has no value"),
        ("=4", "has no value"),
    ],
)
def test_a_secret_is_never_an_argument_nor_in_an_error(options: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        read_options([options], {})
    assert "hidden" not in f"{caught.value.message} {caught.value.hint}"
