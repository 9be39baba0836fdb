"""Events on their way to Headwater: within seconds or not at all, and never an error to the training.

Where Headwater is away, it is not tried again for half a minute: a search over a hundred small trainings does not
wait a hundred times.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from headwater.errors import HeadwaterError
from headwater.spark_hooks import send
from headwater.spark_hooks.listener import endpoint

SECONDS = 2.0
QUIET_SECONDS = 30.0

log = logging.getLogger("headwater")
_away_since: dict[str, float] = {}


class Delivery:
    """One Headwater. Raises SettingsError at once for what is no address."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        origin, path = endpoint(url)
        self._place = origin + path
        self._api_key = api_key

    def send(self, event: Mapping[str, Any]) -> bool:
        """Whether Headwater has it."""
        if time.monotonic() - _away_since.get(self._place, -QUIET_SECONDS) < QUIET_SECONDS:
            log.warning("lineage was not sent: Headwater at %s was away a moment ago", self._place)
            return False
        try:
            send.post(self._place, event, api_key=self._api_key, seconds=SECONDS)
        except HeadwaterError as fault:
            _away_since[self._place] = time.monotonic()
            log.warning("lineage was not sent: %s", fault.message)
            return False
        except Exception:  # whatever it is, the training goes on
            log.warning("lineage was not sent", exc_info=True)
            return False
        _away_since.pop(self._place, None)
        return True

    def send_beside(self, event: Mapping[str, Any]) -> threading.Thread:
        """Send while the training goes on; the thread ends within `SECONDS` or little more."""
        thread = threading.Thread(
            target=self.send, args=(event,), name="headwater-mlflow", daemon=True
        )
        thread.start()
        return thread
