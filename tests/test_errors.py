"""The error tree: exit codes and statuses."""

from __future__ import annotations

from headwater import errors


def test_each_error_is_documented_and_has_a_code_and_a_status() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    for kind in kinds:
        assert issubclass(kind, errors.HeadwaterError)
        assert kind.__name__ in (errors.__doc__ or "")
        assert 1 <= kind.exit_code <= 7
        assert 400 <= kind.status < 600
    assert len(kinds) > 10


def test_an_event_error_has_a_field_and_its_own_status() -> None:
    error = errors.EventError("run.runId is empty", field="run.runId", status=400, hint="Send it.")
    assert (str(error), error.field, error.status, error.hint) == (
        "run.runId is empty",
        "run.runId",
        400,
        "Send it.",
    )
