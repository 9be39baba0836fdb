"""Instants as options give them: ISO 8601, an age such as `2h`, or `now`, `today`, `yesterday`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.errors import EventError, QueryError
from headwater.schema.durations import parse_duration

_HINT = "Write for example 2h, 7d, yesterday, 2026-01-31 or 2026-01-31T12:00:00Z."


def instant_of(option: str, text: str | None, *, now: datetime | None = None) -> datetime | None:
    """Parse a time given as an option; None if it is not given. Raises QueryError.

    `today` and `yesterday` begin at midnight in UTC, the zone of every printed time.
    """
    from headwater.schema.events import parse_instant, to_datetime

    if not text:
        return None
    now = now or datetime.now(UTC)
    words = text.strip().lower()
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"now": now, "today": midnight, "yesterday": midnight - timedelta(days=1)}
    if words in named:
        return named[words]
    age = _age(option, words.removesuffix("ago").rstrip())
    if age is not None:
        return now - age
    try:
        return to_datetime(parse_instant(_with_time(text.strip()), field=option))
    except EventError as error:
        raise QueryError(f"{option} {text[:40]!r} is no time", hint=_HINT) from error


def _age(option: str, text: str) -> timedelta | None:
    try:
        return parse_duration(text, name=option)
    except QueryError:
        return None


def _with_time(text: str) -> str:
    """Return a bare date as the instant at which it begins in UTC."""
    return f"{text}T00:00:00Z" if len(text) == len("2026-01-31") and "T" not in text else text
