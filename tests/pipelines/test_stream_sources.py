"""Options of Spark's sources: secrets come from the environment or a file, never from arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.pipelines.stream_sources import read_options


def test_options_take_secrets_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hidden\n")
    given = [
        "kafka.security.protocol=SASL_SSL",
        "kafka.sasl.jaas.config=env:JAAS",
        f"kafka.ssl.truststore.password=file:{tmp_path / 'password'}",
        "minPartitions=4",
    ]
    assert read_options(given, {"JAAS": "a=b;"}) == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.jaas.config": "a=b;",
        "kafka.ssl.truststore.password": "hidden",
        "minPartitions": "4",
    }


@pytest.mark.parametrize(
    ("given", "said"),
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
def test_a_secret_is_never_an_argument_nor_in_an_error(given: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        read_options([given], {})
    assert "hidden" not in f"{caught.value.message} {caught.value.hint}"
