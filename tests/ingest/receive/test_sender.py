"""The sender of a run event: what the stored event says, by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.access.principal import ANONYMOUS, Principal, Scope
from headwater.ingest.receive.sender import with_sender
from headwater.schema.events import parse
from headwater.schema.visibility import Visibility

TEAM = Principal("team", frozenset({Scope.INGEST}), Visibility(("team-b*", "s3://lake")))
RUN = b'{"eventTime":"2026-01-01T00:00:00Z","run":%s,"job":{"namespace":"team-b","name":"j"}}'


def sender_of(stored: bytes) -> Any:
    """Return the namespaces in the stored event, as its parser reads them."""
    run = parse(stored, received=0).run
    assert run is not None
    assert run.facets is not None
    return json.loads(bytes(run.facets["headwater_sender"]))["namespaces"]


def named(body: bytes, principal: Principal = TEAM) -> bytes:
    return with_sender(principal, body, parse(body, received=0))


@pytest.mark.parametrize(
    "run",
    [
        b'{"runId":"r"}',
        b'{"runId":"r","facets":null}',
        b'{"runId":"r","facets":{"other":{"a":1}}}',
        b'{"runId":"r","facets":{"headwater_sender":{"namespaces":["*"]}}}',
        b'{"runId":"r","facets":{"headwater\\u005fsender":{"namespaces":["*"]}}}',
        b'{"runId":"r","facets":{"headwater_sender":{},"headwater_sender":{"namespaces":["*"]}}}',
        b'{"runId":"r","facets":{},"facets":{"headwater_sender":{"namespaces":["team-a"]}}}',
        b'{"runId":"q"},"run":{"runId":"r","facets":{"headwater_sender":7}}',
        # A lone surrogate, which the parser replaces.
        b'{"runId":"r","facets":{"other":{"a":"\\ud800"}}}',
    ],
)
def test_a_restricted_key_is_named_whatever_the_event_says(run: bytes) -> None:
    assert sender_of(named(RUN % run)) == ["s3://lake", "team-b*"]


def test_the_rest_of_the_event_stays() -> None:
    event = json.loads(
        named(b"\xef\xbb\xbf" + RUN % b'{"runId":"r","facets":{"other":{"a":1.50}}}')
    )
    del event["run"]["facets"]["headwater_sender"]
    assert event == json.loads(RUN % b'{"runId":"r","facets":{"other":{"a":1.5}}}')


def test_an_event_of_an_unrestricted_key_stays_as_it_is() -> None:
    body = RUN % b'{"runId":"r","facets":{"headwater_sender":{"namespaces":["team-a"]}}}'
    assert named(body, ANONYMOUS) is body


def test_only_run_events_name_their_sender() -> None:
    body = b'{"eventTime":"2026-01-01T00:00:00Z","job":{"namespace":"team-b","name":"j"}}'
    assert named(body) is body
