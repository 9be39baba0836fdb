"""Ask a Headwater API whether its policies allow an action, before a tool acts.

Airflow tasks, Spark jobs and the command `headwater policy dbt` ask in this way. A refusal is an
answer; an API that does not answer is an error, and the caller decides what that means.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from headwater.addresses import shown
from headwater.errors import EventError, ForbiddenError, UnavailableError
from headwater.transport import HttpSender, bearer_headers

PATH = "/policy/decisions"
TIMEOUT_SECONDS = 10.0
_PAUSE_SECONDS = 0.2
_SHOWN_MAX = 5


class PolicyRefusedError(ForbiddenError):
    """An action that policies do not allow."""


@dataclass(frozen=True)
class PolicyAnswer:
    """The answer of the API: whether the action is allowed, and the violated policies.

    violations: the policy, severity, enforcement and message of each.
    consumers: the urns of active consumers, for an action that destroys or changes the dataset.
    reason: `unknown` if only policies that cannot be assessed refuse.
    """

    allowed: bool
    violations: tuple[Mapping[str, Any], ...] = ()
    consumers: tuple[str, ...] = ()
    reason: str = ""

    def explain(self) -> str:
        """Return the violations in words, those that block first."""
        ordered = sorted(self.violations, key=lambda one: one["enforce"] != "block")
        shown = [f"{one['policy']}: {_message(one)}" for one in ordered[:_SHOWN_MAX]]
        more = len(ordered) - len(shown)
        return "; ".join([*shown, *([f"and {more} more"] if more > 0 else [])])

    def require(self, action: str, name: str) -> None:
        """Raise PolicyRefusedError if the action is refused."""
        if not self.allowed:
            raise PolicyRefusedError(
                f"policies refuse to {action} {name}: {self.explain()}",
                hint="A steward may approve it: headwater approve URN --policy NAME --reason ...",
            )


def ask_policies(
    url: str,
    request: Mapping[str, Any],
    *,
    api_key: str | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> PolicyAnswer:
    """Return whether the policies of an API allow an action.

    Args:
        url: Address of the API: `http://headwater:8000`.
        request: The body of `POST /policy/decisions`: `action`, and `dataset` or `urn`; optionally
            `job`, `purpose`, `actor` and `columns`.
        api_key: A key with scope `read`; None or empty for none.
        timeout_seconds: Time for all attempts together.

    Returns:
        The answer.

    Raises:
        UnavailableError: The API did not answer in time, or not as an API of Headwater does.
        EventError: The API refused the request, for example its key.
    """
    sender = HttpSender(
        timeout_seconds=timeout_seconds,
        pauses=repeat(_PAUSE_SECONDS),
        retry_statuses=range(500, 600),
        uses_proxies=False,
    )
    address = url.rstrip("/") + PATH
    body = json.dumps(dict(request)).encode()
    deadline = time.monotonic() + timeout_seconds
    response = sender.post(address, body, bearer_headers(api_key), deadline=deadline)
    if response.status >= 500:
        raise UnavailableError(f"{shown(address)} answered {response.status}: {response.text()}")
    if not response.is_success:
        raise EventError(
            f"{shown(address)} refused the request with {response.status}: {response.text()}",
            status=response.status,
        )
    try:
        answer = json.loads(response.body)
        return PolicyAnswer(
            allowed=answer["allowed"] is True,
            violations=tuple(map(_violation, answer["violations"])),
            consumers=tuple(map(str, answer["consumers"])),
            reason=str(answer["reason"] or ""),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnavailableError(
            f"{shown(address)} does not answer as a Headwater does: {type(error).__name__}"
        ) from error


_VIOLATION = ("policy", "severity", "enforce", "message", "unknown")


def _violation(answered: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: str(answered[name] or "") for name in _VIOLATION}


def _message(violation: Mapping[str, Any]) -> str:
    unknown = violation["unknown"]
    return f"cannot be assessed ({unknown})" if unknown else str(violation["message"])
