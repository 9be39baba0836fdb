"""The tokens of statements that end in the middle of one."""

from __future__ import annotations

import pytest

from headwater.cypher.sandbox.tokens import parse_tokens
from headwater.errors import QueryError


@pytest.mark.parametrize(
    "text",
    [
        "RETURN 1 '" + "\\'" * 9_900,
        'RETURN 1 "' + '\\"' * 9_900,
        "RETURN 1 `" + "``" * 9_900,
        "RETURN 1 /*" + "/ * " * 4_900,
        "RETURN 'a' + 'b",
        "RETURN 1 `",
        "RETURN 1 /* '",
    ],
)
def test_an_open_quotation_or_comment_extends_to_the_end(text: str) -> None:
    """Each quote in it was the start of another attempt: one statement took 9 seconds."""
    with pytest.raises(QueryError, match="a quotation or a comment is not closed"):
        parse_tokens(text)


def test_closed_quotations_and_comments() -> None:
    tokens = parse_tokens(r"""RETURN 'a\'b' /* ' */, "c\\", `d``e` // `""")
    assert [token.text for token in tokens] == ["RETURN", r"'a\'b'", ",", r'"c\\"', ",", "`d``e`"]
