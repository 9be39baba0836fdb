"""Every log line is one line in one schema, in JSON and as text, whatever the values hold."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from structlog.contextvars import bound_contextvars

from headwater.logs.configure import CONSOLE, JSON, start_logs

log = logging.getLogger("headwater.worker")
HOSTILE = 'a\nlevel=error "x" \r\u2028\x1b[31m event=forged'


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Callable[[], list[str]]]]:
    """Yield a function that starts logs in a form, and returns a reader of the lines."""
    root = logging.getLogger()
    before, level, own = root.handlers[:], root.level, logging.getLogger("headwater").level

    def start(form: str) -> Callable[[], list[str]]:
        stream = io.StringIO()
        monkeypatch.setattr("sys.stderr", stream)
        start_logs("info", form)
        return lambda: stream.getvalue().split("\n")[:-1]

    yield start
    root.handlers[:] = before
    root.setLevel(level)
    logging.getLogger("headwater").setLevel(own)


def test_the_fields_of_a_line(lines: Callable[[str], Callable[[], list[str]]]) -> None:
    read = lines(JSON)
    with bound_contextvars(request_id="r-1", principal="ci", trace_id="ab" * 16):
        log.info("batch_done seq=%d spool=%s seconds=%.1f reason=lag", 7, "/s", 1.26)
    log.info("told level=%s event=%r", "forged", "x y")
    (first, second) = (json.loads(line) for line in read())
    assert first.pop("timestamp").endswith("Z")
    assert [*first][:3] == ["level", "logger", "event"]
    assert first == {
        "level": "info",
        "logger": "headwater.worker",
        "event": "batch_done",
        "seq": 7,
        "spool": "/s",
        "seconds": 1.26,
        "reason": "lag",
        "request_id": "r-1",
        "principal": "ci",
        "trace_id": "ab" * 16,
    }
    assert (second["level"], second["level_"], second["event_"]) == ("info", "forged", "x y")


@pytest.mark.parametrize("form", [JSON, CONSOLE])
def test_a_value_adds_no_line_and_no_field(
    lines: Callable[[str], Callable[[], list[str]]], form: str
) -> None:
    read = lines(form)
    log.warning("event_refused reason=%s", HOSTILE)
    log.warning(HOSTILE)
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        log.exception("batch_failed batch=%d", 3)
    shown = read()
    assert len(shown) == 3
    assert all(line.isascii() and line.isprintable() for line in shown)
    if form == JSON:
        parsed: list[dict[str, Any]] = [json.loads(line) for line in shown]
        assert [each["event"] for each in parsed] == ["event_refused", "message", "batch_failed"]
        assert [each["level"] for each in parsed] == ["warning", "warning", "error"]
        assert parsed[0]["reason"] == parsed[1]["message"] == HOSTILE
        assert "Traceback" in parsed[2]["exception"]
    else:
        assert "warning headwater.worker event_refused reason=" in shown[0]


def test_no_secret_is_written(lines: Callable[[str], Callable[[], list[str]]]) -> None:
    read = lines(JSON)
    log.error("a key=%s", "hw_bf6476e311c9_RiGUxyzRiGUxyz-_x")
    log.error("a header=%r", "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.")
    log.error("a uri=%s", "neo4j+s://neo4j:horse-battery@graph:7687/x")
    text = "\n".join(read())
    for secret in ("RiGU", "eyJhb", "horse-battery"):
        assert secret not in text
    assert "neo4j+s://neo4j:***@graph:7687/x" in text


def test_other_libraries_log_warnings_only(
    lines: Callable[[str], Callable[[], list[str]]],
) -> None:
    uvicorn.Config("none")
    read = lines(JSON)
    logging.getLogger("httpx").info("GET %s", "https://user:password@host/")
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 3)
    (line,) = read()
    assert json.loads(line)["message"] == "Started server process [3]"
