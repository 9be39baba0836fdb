"""The API as a whole: the browsers' origins that it accepts, and paths that never redirect."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request

import pytest

from tests.end_to_end.conftest import Running

pytestmark = pytest.mark.neo4j


def answered(
    running: Running, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, str]:
    request = urllib.request.Request(running.url + path, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_page_of_another_site_can_neither_send_nor_query(running: Running) -> None:
    event = json.dumps(
        {"job": {"namespace": "n", "name": "j"}, "eventTime": "2026-01-01T00:00:00Z"}
    ).encode()
    for path, body in (
        ("/api/v1/lineage", event),
        ("/graphql", b'{"query": "{__typename}"}'),
        ("/healthz", None),
    ):
        status, answer_text = answered(running, path, body, Origin="https://evil.example.com")
        assert status == 403
        assert "evil.example.com" in json.loads(answer_text)["error"]["message"]


def test_a_foreign_name_that_resolves_to_loopback_is_refused(running: Running) -> None:
    assert answered(running, "/healthz", Host="evil.example.com")[0] == 403
    port = running.url.rpartition(":")[2]
    assert answered(running, "/healthz", Host=f"localhost:{port}")[0] == 200


def test_a_page_of_the_servers_own_origin_is_accepted(running: Running) -> None:
    status, answer_text = answered(
        running,
        "/graphql",
        b'{"query": "{__typename}"}',
        Origin=running.url,
        **{"Content-Type": "application/json"},
    )
    assert (status, json.loads(answer_text)) == (200, {"data": {"__typename": "Query"}})


def test_an_unknown_path_is_an_error_in_json(running: Running) -> None:
    status, answer_text = answered(running, "/api/v2/nothing")
    assert (status, json.loads(answer_text)["error"]["code"]) == (404, "HTTP")


def test_the_root_is_a_page_for_browsers_and_json_for_programs(running: Running) -> None:
    status, answer_text = answered(running, "/", Accept="text/html,*/*;q=0.8")
    assert status == 200
    script = re.search(r'<script type="module" src="(/static/[^"]*app/main\.js)">', answer_text)
    assert script
    assert answered(running, script[1])[0] == 200
    assert json.loads(answered(running, "/")[1])["ask at"] == "/graphql"
    assert answered(running, "/static/app.css")[0] == 200
