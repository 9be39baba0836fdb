"""API keys and tokens are one word, and no error prints one."""

from __future__ import annotations

import pytest

from headwater.credentials import parse_token
from headwater.errors import SettingsError


@pytest.mark.parametrize("key", ["SECRET\nx", "SECRET x", "SECRET€", "SECRET\udcff", "SECRET\x7f"])
def test_a_malformed_key_is_refused_without_printing_it(key: str) -> None:
    with pytest.raises(SettingsError, match="the API key is malformed") as caught:
        parse_token(key)
    assert "SECRET" not in caught.value.message + caught.value.hint


def test_white_space_around_a_key_is_no_part_of_it() -> None:
    assert parse_token(" k\r\n") == "k"
    assert parse_token(" \n") == ""
