"""A sensor that waits until the data of a dataset is fresh, its sources included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk import BaseSensorOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent

from headwater.airflow.api import async_client_of, client_of
from headwater.client.client import Client

FRESH = "FRESH"


class FreshLineageTrigger(BaseTrigger):
    """A trigger that fires once a dataset is fresh."""

    def __init__(
        self,
        dataset: str,
        within: str,
        *,
        conn_id: str | None = None,
        url: str | None = None,
        poke_interval: float = 60.0,
    ) -> None:
        super().__init__()
        self.dataset = dataset
        self.within = within
        self.conn_id = conn_id
        self.url = url
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and the arguments of the trigger. A key is not among them."""
        return (
            f"{type(self).__module__}.{type(self).__name__}",
            {
                "dataset": self.dataset,
                "within": self.within,
                "conn_id": self.conn_id,
                "url": self.url,
                "poke_interval": self.poke_interval,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask until the dataset is fresh."""
        client = await async_client_of(self.conn_id, self.url)
        while True:
            explanation = await asyncio.to_thread(stale_because, client, self.dataset, self.within)
            if explanation is None:
                yield TriggerEvent({"dataset": self.dataset, "state": FRESH})
                return
            self.log.info("%s is not fresh: %s", self.dataset, explanation)
            await asyncio.sleep(self.poke_interval)


class FreshLineageSensor(BaseSensorOperator):
    """A sensor that waits until a dataset and the sources behind it are fresh.

    The task succeeds at once if they are. With `deferrable` it waits in the triggerer and needs no
    worker slot. After `timeout` seconds it fails and says which source is too old.

    Args:
        dataset: Name or urn of the dataset.
        within: Maximum age of the data: `90m`, `24h`, `7d`.
        conn_id: An Airflow connection: its host is the address, its password the API key.
        url: Address of the API; by default HEADWATER_URL or the profile.
        deferrable: Wait in the triggerer.
    """

    template_fields = ("dataset", "within", "url")

    def __init__(
        self,
        *,
        dataset: str,
        within: str = "24h",
        conn_id: str | None = None,
        url: str | None = None,
        deferrable: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.dataset = dataset
        self.within = within
        self.conn_id = conn_id
        self.url = url
        self.deferrable = deferrable

    def poke(self, context: Any) -> bool:  # noqa: ARG002
        """Return True if the dataset is fresh now."""
        explanation = stale_because(client_of(self.conn_id, self.url), self.dataset, self.within)
        if explanation is not None:
            self.log.info("%s is not fresh: %s", self.dataset, explanation)
        return explanation is None

    def execute(self, context: Any) -> Any:
        """Wait in the worker or in the triggerer."""
        if not self.deferrable:
            return super().execute(context)
        if not self.poke(context):
            self.defer(
                trigger=FreshLineageTrigger(
                    self.dataset,
                    self.within,
                    conn_id=self.conn_id,
                    url=self.url,
                    poke_interval=float(self.poke_interval),
                ),
                method_name="execute_complete",
                timeout=timedelta(seconds=self.timeout),
            )
        return None

    def execute_complete(self, context: Any, event: Any = None) -> None:  # noqa: ARG002
        """End the task once the trigger fired."""
        if not event or event.get("state") != FRESH:
            raise AirflowException(f"{self.dataset} did not become fresh")


def stale_because(client: Client, dataset: str, within: str) -> str | None:
    """Return why a dataset is not known to be fresh; None if it is fresh."""
    found = client.freshness(dataset, within)
    return None if found.state == FRESH else found.explanation
