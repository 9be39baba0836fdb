"""Deliver events to Headwater within seconds, and never raise into the training.

After a failure the same address is not tried for half a minute: a search over a hundred small
trainings does not wait a hundred times.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

from headwater.errors import HeadwaterError
from headwater.spark_hooks import send
from headwater.spark_hooks.listener import endpoint

SECONDS = 2.0

log = logging.getLogger("headwater")
_recent_failures = send.RecentFailures()


class Delivery:
    """One Headwater API.

    Args:
        url: Address of the API.
        api_key: API key, if it needs one.

    Raises:
        SettingsError: `url` is no http or https address.
    """

    def __init__(self, url: str, api_key: str | None = None) -> None:
        self.origin, path = endpoint(url)
        self._address = self.origin + path
        self._api_key = api_key

    def send(self, event: Mapping[str, Any]) -> bool:
        """Send an event within `SECONDS`; return True if Headwater accepted it, and log a
        failure.
        """
        if _recent_failures.includes(self._address):
            log.warning("lineage_not_sent url=%s reason=recently_unavailable", self._address)
            return False
        try:
            send.post(self._address, event, api_key=self._api_key, seconds=SECONDS)
        except HeadwaterError as fault:
            _recent_failures.add(self._address)
            log.warning("lineage_not_sent url=%s reason=%s", self._address, fault.message)
            return False
        except Exception:  # a training must not fail because of its lineage
            log.warning("lineage_not_sent url=%s", self._address, exc_info=True)
            return False
        _recent_failures.remove(self._address)
        return True

    def send_in_background(self, event: Mapping[str, Any]) -> threading.Thread:
        """Send an event from a thread; return the thread, which ends within about `SECONDS`."""
        thread = threading.Thread(
            target=self.send, args=(event,), name="headwater-mlflow", daemon=True
        )
        thread.start()
        return thread
