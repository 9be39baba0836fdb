"""The text of API keys and tokens, whose errors never print it."""

from __future__ import annotations

import re

from headwater.errors import SettingsError

_KEY_HINT = "Copy it again as `headwater keys create` printed it."
# What a header with a credential can hold, and an address: ASCII without a space.
WORD = re.compile(r"[\x21-\x7e]+")


def parse_token(text: str, name: str = "the API key", *, hint: str = _KEY_HINT) -> str:
    """Return an API key or a token without the white space around it, "" for none.

    Raises SettingsError, without the text, if no header can hold it. `name` is that of the token.
    """
    token = text.strip()
    if token and not WORD.fullmatch(token):
        raise SettingsError(
            f"{name} is malformed: it must be one word of printable ASCII", hint=hint
        )
    return token
