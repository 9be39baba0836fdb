"""Events over HTTP on a real server with a real spool: the responses and the stored events."""

from __future__ import annotations

import codecs
import gzip
import json
import socket
import time
import tracemalloc
from typing import Any

import pytest

from headwater.ingest.receive.http import _split_batch
from headwater.ingest.spool.salvage_lock import lock_for_salvage
from headwater.web import BodyError
from tests.ingest.conftest import BATCH_BYTES_MAX, EVENT_BYTES_MAX, Api


def event(run_id: str = "r", **more: Any) -> bytes:
    run, job = {"runId": run_id, **more}, {"namespace": "etl", "name": "load"}
    return json.dumps(
        {"eventTime": "2026-01-01T00:00:00Z", "eventType": "START", "run": run, "job": job}
    ).encode()


def refused(api: Api, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    """Return the response to a body; assert that nothing is stored."""
    before = api.last()
    answer = api.post(body, **headers)
    assert api.last() == before
    error: dict[str, Any] = answer.body["error"]
    return answer.status, error


def test_201_means_it_is_on_disk(api: Api) -> None:
    before = api.last()
    answer = api.post(event("kept"))
    assert (answer.status, answer.body) == (201, {"sequence": before + 1})
    assert api.stored(before) == [event("kept")]


def test_a_spool_that_is_salvaged_is_503_at_once(api: Api) -> None:
    before = api.last()
    with lock_for_salvage(api.spool_path):
        began = time.monotonic()
        answer = api.post(event("early"))
        assert time.monotonic() - began < 1
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert "while it is salvaged" in answer.body["error"]["message"]
    assert api.post(event("later")).body == {"sequence": before + 1}
    assert api.stored(before) == [event("later")]


def test_a_trailing_slash_is_accepted_and_never_redirected(api: Api) -> None:
    assert api.post(event(), "/api/v1/lineage/").status == 201
    assert api.post(b"[" + event() + b"]", "/api/v1/lineage/batch/").status == 200


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/lineage/batch/x"])
def test_other_paths_are_not_found(api: Api, path: str) -> None:
    answer = api.post(event(), path)
    assert (answer.status, answer.body["error"]["code"]) == (404, "HTTP")


def test_an_unknown_path_below_those_of_marquez_is_an_error_in_its_form(api: Api) -> None:
    answer = api.post(event(), "/api/v1/Lineage")
    assert (answer.status, answer.body["code"]) == (404, 404)
    assert "404" in answer.body["message"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_not_allowed(api: Api, method: str) -> None:
    assert api.post(b"", method=method).status == 405


def test_a_body_that_is_not_json_is_400(api: Api) -> None:
    status, error = refused(api, b"not json")
    assert (status, error["code"]) == (400, "Event")
    assert "JSON" in error["message"]
    assert error["hint"]


def test_an_empty_body_is_400(api: Api) -> None:
    assert refused(api, b"")[0] == 400


def test_json_that_is_no_event_is_422_and_names_the_field(api: Api) -> None:
    status, error = refused(
        api, json.dumps({"run": {}, "job": {"namespace": "a", "name": "b"}}).encode()
    )
    assert (status, error["field"]) == (422, "run.runId")


def test_an_array_is_answered_with_the_batch_path(api: Api) -> None:
    status, error = refused(api, b" [" + event() + b"]")
    assert status == 422
    assert "/api/v1/lineage/batch" in error["hint"]


def test_a_body_above_the_limit_is_413(api: Api) -> None:
    fits = event(facets={"x": {"a": "y" * (EVENT_BYTES_MAX - len(event()) - 40)}})
    assert len(fits) <= EVENT_BYTES_MAX
    assert api.post(fits).status == 201
    assert refused(api, fits + b" " * (EVENT_BYTES_MAX - len(fits) + 1))[0] == 413


def test_a_body_far_too_large_is_refused_before_its_end(api: Api) -> None:
    with socket.create_connection(("127.0.0.1", api.port), timeout=10) as connection:
        head = (
            "POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
            "100000000000\r\n\r\n"
        )
        connection.sendall(head.encode() + b" " * (EVENT_BYTES_MAX + 1))
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("encoding", ["deflate", "br", "gzip, gzip", "zstd"])
def test_other_encodings_are_415(api: Api, encoding: str) -> None:
    assert refused(api, event(), content_encoding=encoding)[0] == 415


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip", " gzip "])
def test_gzip_is_stored_unpacked(api: Api, encoding: str) -> None:
    before = api.last()
    assert api.post(gzip.compress(event("packed")), content_encoding=encoding).status == 201
    assert api.stored(before) == [event("packed")]


def test_gzip_of_several_members(api: Api) -> None:
    before, half = api.last(), len(event()) // 2
    body = gzip.compress(event()[:half]) + gzip.compress(b"") + gzip.compress(event()[half:])
    assert api.post(body, content_encoding="gzip").status == 201
    assert api.stored(before) == [event()]


BROKEN_GZIP = {
    "cut short": gzip.compress(event())[:-1],
    "only its head": gzip.compress(event())[:10],
    "a second member cut short": gzip.compress(event()) + gzip.compress(b" ")[:-3],
    "wrong checksum": gzip.compress(event())[:-8] + b"\0" * 8,
    "not gzip at all": event(),
    "rubbish behind it": gzip.compress(event()) + b"rubbish",
    "nothing": b"",
}


@pytest.mark.parametrize("body", BROKEN_GZIP.values(), ids=list(BROKEN_GZIP))
def test_broken_gzip_is_400(api: Api, body: bytes) -> None:
    assert refused(api, body, content_encoding="gzip")[0] == 400


def test_a_bomb_is_413_at_once(api: Api) -> None:
    bomb = gzip.compress(b" " * 100_000_000)
    began = time.monotonic()
    assert refused(api, bomb, content_encoding="gzip")[0] == 413
    assert time.monotonic() - began < 2


def test_empty_gzip_members_are_bounded(api: Api) -> None:
    assert (
        refused(api, gzip.compress(b"") * (EVENT_BYTES_MAX // 20 + 1), content_encoding="gzip")[0]
        == 413
    )


def test_secrets_are_redacted_before_the_event_is_stored(api: Api) -> None:
    before = api.last()
    api.post(event(facets={"x": {"uri": "jdbc:postgresql://me:hunter2@db/x"}}))
    api.batch(b"[" + event(facets={"x": {"password": "hunter2"}}) + b"]")
    assert not any(b"hunter2" in body for body in api.stored(before))


def summary(received: int, failed: int) -> dict[str, Any]:
    return {
        "status": "partial_success" if failed else "success",
        "summary": {
            "received": received,
            "successful": received - failed,
            "failed": failed,
            "retriable": 0,
            "non_retriable": failed,
        },
    }


def batched(
    api: Api, body: bytes, **headers: str
) -> tuple[dict[str, Any], list[dict[str, Any]], list[bytes]]:
    before = api.last()
    answer = api.batch(body, **headers)
    assert answer.status == 200, answer
    failed = answer.body.pop("failed_events")
    return answer.body, failed, api.stored(before)


def test_an_array(api: Api) -> None:
    assert batched(api, b"[" + event("a") + b", \n" + event("b") + b"]") == (
        summary(2, 0),
        [],
        [event("a"), event("b")],
    )


def test_json_lines(api: Api) -> None:
    body = event("a") + b"\r\n\n  \n" + event("b") + b"\n"
    assert batched(api, body) == (summary(2, 0), [], [event("a"), event("b")])


def test_one_event_over_several_lines(api: Api) -> None:
    pretty = json.dumps(json.loads(event()), indent=2).encode()
    assert batched(api, pretty) == (summary(1, 0), [], [pretty])


@pytest.mark.parametrize(
    "body", [codecs.BOM_UTF8 + b"[%s]" % event(), codecs.BOM_UTF8 + event() + b"\n" + event()]
)
def test_a_byte_order_mark(api: Api, body: bytes) -> None:
    assert batched(api, body)[0]["summary"]["failed"] == 0


def test_an_empty_array(api: Api) -> None:
    assert batched(api, b" [ ] ") == (summary(0, 0), [], [])


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"12," * 300_000 + b"1]",
        b"[" + b"{}," * 300_000 + b"{}]",
        b"[" + b"12," * 300_000 + b"x]",
        b"12\n" * 300_000,
    ],
    ids=["numbers", "objects", "broken", "lines"],
)
def test_a_batch_of_too_many_elements_takes_little_memory(body: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BodyError, match="more than 100000 events"):
            _split_batch(body)
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_a_batch_in_gzip(api: Api) -> None:
    assert batched(api, gzip.compress(b"[%s]" % event("z")), content_encoding="gzip")[2] == [
        event("z")
    ]


@pytest.mark.parametrize(
    "broken",
    [
        b'{"eventTime": }',
        b"{'a': 1}",
        b"nonsense",
        b'{"a": NaN}',
        b'{"a": "line\nbreak, ]}"}',
        b"",
        b"[[]]",
        b"null",
        b'{"job":{"namespace":"\xff","name":"x"}}',
        b'{"run":{"runId":"x"}}',
    ],
)
def test_a_malformed_element_does_not_refuse_its_neighbours(api: Api, broken: bytes) -> None:
    good = event("good")
    answered, failed, stored = batched(api, b"[" + good + b"," + broken + b"," + good + b"]")
    assert answered == summary(3, 1)
    assert [(one["index"], one["retriable"]) for one in failed] == [(1, False)]
    assert failed[0]["reason"]
    assert stored == [good, good]


def test_an_unclosed_object_refuses_only_its_line(api: Api) -> None:
    answered, failed, stored = batched(api, event() + b'\n{"run": {"runId": "x"\n' + event())
    assert (answered, failed[0]["index"], stored) == (summary(3, 1), 1, [event(), event()])


def test_each_failed_event_names_its_field(api: Api) -> None:
    _, failed, _ = batched(api, b"[" + event("") + b"," + event() + b"]")
    assert (failed[0]["index"], failed[0]["field"]) == (0, "run.runId")


def test_an_element_above_the_limit_of_an_event(api: Api) -> None:
    large = event(facets={"x": {"a": "y" * EVENT_BYTES_MAX}})
    answered, failed, stored = batched(api, b"[" + large + b"," + event() + b"]")
    assert (answered["summary"]["failed"], failed[0]["index"], stored) == (1, 0, [event()])


@pytest.mark.parametrize(
    "body",
    [b"", b" \n ", b"[", b"[1, 2", b"[] []", b"[%s] x" % event(), b"[" * 10_000 + b"]" * 9_000],
)
def test_a_malformed_batch_is_400(api: Api, body: bytes) -> None:
    before = api.last()
    assert api.batch(body).status == 400
    assert api.last() == before


def test_an_element_nested_10_000_deep_does_not_refuse_its_neighbours(api: Api) -> None:
    deep = b'{"run":{"runId":"x","facets":{"f":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_003
    answered, failed, stored = batched(api, b"[" + event() + b"," + deep + b"]")
    assert (answered["summary"]["failed"], failed[0]["index"], stored) == (1, 1, [event()])


def test_a_batch_above_the_limit_is_413(api: Api) -> None:
    assert api.batch(b" " * (BATCH_BYTES_MAX + 1)).status == 413


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "body",
    [
        b'[1,"' + b'\\"' * 450_000,
        b'[1,"' + b"\\\\" * 450_000,
        b'[1,"' + b"x" * 900_000,
        b"[" + b'"",' * 300_000,
    ],
)
def test_a_malformed_batch_is_parsed_in_linear_time(api: Api, body: bytes) -> None:
    # Quadratic time would be hours.
    assert api.batch(body).status in {200, 400, 413}


def test_two_hundred_concurrent_events_are_stored_in_order(api: Api) -> None:
    bodies = [event(f"run {number}") for number in range(200)]
    assert batched(api, b"[" + b",".join(bodies) + b"]")[2] == bodies
