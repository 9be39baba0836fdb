"""The sender of a run event: what the stored event says, by hand."""

from __future__ import annotations

import json

import pytest

from headwater.access.principal import ANONYMOUS, Principal, Scope
from headwater.ingest.receive.sender import with_sender
from headwater.schema.events import parse
from headwater.schema.visibility import Visibility

TEAM = Principal("team", frozenset({Scope.INGEST}), Visibility(("team-b*", "s3://lake")))
RUN = b'{"eventTime":"2026-01-01T00:00:00Z","run":%s,"job":{"namespace":"team-b","name":"j"}}'


def sender_of(stored: bytes) -> str:
    """Return the namespaces in the stored event, as its parser reads them."""
    return parse(stored, received=0).sender


@pytest.mark.parametrize(
    "event",
    [
        RUN % b'{"runId":"r"}',
        b'{"headwater_sender":["*"],' + (RUN % b'{"runId":"r"}')[1:],
        (RUN % b'{"runId":"r"}')[:-1] + b',"headwater\\u005fsender":["*"]}',
        b'{"headwater_sender":["team-a"],"headwater_sender":7,' + (RUN % b'{"runId":"r"}')[1:],
        # A lone surrogate, which the parser replaces.
        RUN % b'{"runId":"r","facets":{"other":{"a":"\\ud800"}}}',
        b"\xef\xbb\xbf" + RUN % b'{"runId":"r"}',
        b'{"eventTime":"2026-01-01T00:00:00Z","job":{"namespace":"team-b","name":"j"}}',
        b'{"eventTime":"2026-01-01T00:00:00Z","dataset":{"namespace":"team-b","name":"d"}}',
    ],
)
def test_a_restricted_key_is_named_whatever_the_event_says(event: bytes) -> None:
    assert sender_of(with_sender(TEAM, event)) == '["s3://lake","team-b*"]'


def test_the_rest_of_the_event_stays() -> None:
    event = json.loads(with_sender(TEAM, RUN % b'{"runId":"r","facets":{"other":{"a":1.50}}}'))
    del event["headwater_sender"]
    assert event == json.loads(RUN % b'{"runId":"r","facets":{"other":{"a":1.5}}}')


def test_an_event_of_an_unrestricted_key_stays_as_it_is() -> None:
    body = RUN[:-1] % b'{"runId":"r"}' + b',"headwater_sender":["team-a"]}'
    assert with_sender(ANONYMOUS, body) is body
    assert sender_of(body) == '["team-a"]'
