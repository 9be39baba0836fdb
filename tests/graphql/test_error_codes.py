"""The codes of errors that no graph is needed for."""

from __future__ import annotations

from graphql import GraphQLError

from headwater.graphql.errors import with_code
from headwater.schema.urns import job_urn


def test_a_text_with_half_a_surrogate_pair_is_a_bad_request() -> None:
    try:
        job_urn("etl", "load\udcff")
    except UnicodeEncodeError as error:
        found = with_code(GraphQLError("failed", original_error=error))
    assert found.message == "a text is not Unicode"
    assert found.extensions is not None
    assert found.extensions["code"] == "BAD_REQUEST"
    assert "UTF-8" in found.extensions["hint"]
