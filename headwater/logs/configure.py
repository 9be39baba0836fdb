"""One schema for every log line: JSON, or text for a terminal.

Modules log with the standard library: `log.info("batch_done seq=%d", seq)`. The first word is the
event, and each `name=` a field. The fields come from the template and its arguments and not from
the finished text, so no value can add a field or a line.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

CONSOLE, JSON = "console", "json"
_FIXED = ("timestamp", "level", "logger", "event")
_TEMPLATE = re.compile(r"[a-z][a-z0-9_]*( [a-z][a-z0-9_]*=\S+)*")
_ARGUMENT = re.compile(r"%[-#0 +]*\d*(\.\d+)?[sdrf]")
# Keys of Headwater, tokens after their scheme, and passwords in addresses.
_SECRETS = (
    (re.compile(r"\bhw_[0-9a-f]{6,}_[A-Za-z0-9_-]+"), "hw_***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), r"\1 ***"),
    (re.compile(r"(://[^\s/:@]+):[^\s/@]+@"), r"\1:***@"),
)
_PLAIN = re.compile(r"[\x21\x23-\x3c\x3e-\x5b\x5d-\x7e]+")


def start_logs(level: str, form: str = CONSOLE) -> None:
    """Write the logs of this process to standard error.

    Other libraries only log warnings: their further lines may have statements and addresses.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(form))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in ("headwater", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.setLevel(level.upper())
        # A server with uvicorn's own set-up, in the same process, may have taken these lines away.
        logger.handlers.clear()
        logger.propagate = True


def _formatter(form: str) -> logging.Formatter:
    renderer = _render_json if form == JSON else _render_text
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            _add_fields,
            structlog.contextvars.merge_contextvars,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.format_exc_info,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _remove_secrets,
            renderer,
        ],
        # The exception is a field, so nothing may follow it.
        keep_exc_info=False,
        keep_stack_info=False,
        pass_foreign_args=True,
    )


def _add_fields(_: WrappedLogger, __: str, entry: EventDict) -> EventDict:
    """Split the message of a record into its event and its fields."""
    record: logging.LogRecord = entry["_record"]
    arguments = entry.pop("positional_args", ())
    if not isinstance(record.msg, str) or not _TEMPLATE.fullmatch(record.msg):
        entry["message"], entry["event"] = entry["event"], "message"
    elif not isinstance(arguments, Mapping):
        event, *pairs = record.msg.split(" ")
        entry["event"] = event
        entry.update(_fields(pairs, arguments))
    if record.exc_info:
        entry["exc_info"] = record.exc_info
    return entry


def _fields(pairs: list[str], arguments: Iterable[Any]) -> dict[str, Any]:
    rest = iter(arguments)
    fields: dict[str, Any] = {}
    for pair in pairs:
        name, _, template = pair.partition("=")
        values = [next(rest, None) for _ in _ARGUMENT.findall(template)]
        fields[f"{name}_" if name in _FIXED else name] = _value(template, values)
    return fields


def _value(template: str, values: list[Any]) -> Any:
    if len(values) == 1 and _ARGUMENT.fullmatch(template):
        value = values[0]
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return round(value, 3)
        if isinstance(value, str):
            return value
    return template % tuple(values)


def _remove_secrets(_: WrappedLogger, __: str, entry: EventDict) -> EventDict:
    for name, value in entry.items():
        if isinstance(value, str):
            for pattern, replacement in _SECRETS:
                value = pattern.sub(replacement, value)
            entry[name] = value
    return entry


def _render_json(_: WrappedLogger, __: str, entry: EventDict) -> str:
    ordered = {name: entry.pop(name) for name in _FIXED}
    return json.dumps({**ordered, **entry}, ensure_ascii=True, default=str)


def _render_text(_: WrappedLogger, __: str, entry: EventDict) -> str:
    timestamp, level, logger, event = (entry.pop(name) for name in _FIXED)
    fields = "".join(f" {name}={_text(value)}" for name, value in entry.items())
    return f"{timestamp} {level:7} {logger} {event}{fields}"


def _text(value: Any) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=True)
