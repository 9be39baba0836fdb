"""A trigger and a sensor for schema changes that break readers, for example to train a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk import BaseSensorOperator, PokeReturnValue
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from headwater.airflow.api import async_client_of, client_of, schema_changes


class SchemaChangeTrigger(BaseEventTrigger):
    """A trigger that fires for each schema change that breaks readers of the given datasets.

    As the trigger of an `AssetWatcher` it starts the DAGs that are scheduled on the asset. A change
    that happens while no triggerer runs fires only if `since` is before it.

    Args:
        datasets: Names or urns.
        since: ISO 8601; changes before it do not count. By default the start of the trigger.
        conn_id: An Airflow connection: its host is the address, its password the API key.
        url: Address of the API; by default HEADWATER_URL or the profile.
        poke_interval: Seconds between two questions.
        once: End after the first change, as a deferred task needs it.
    """

    def __init__(
        self,
        datasets: Sequence[str],
        *,
        since: str | None = None,
        conn_id: str | None = None,
        url: str | None = None,
        poke_interval: float = 60.0,
        once: bool = False,
    ) -> None:
        super().__init__()
        self.datasets = list(datasets)
        self.since = since
        self.conn_id = conn_id
        self.url = url
        self.poke_interval = poke_interval
        self.once = once

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and the arguments of the trigger. A key is not among them."""
        return (
            f"{type(self).__module__}.{type(self).__name__}",
            {
                "datasets": self.datasets,
                "since": self.since,
                "conn_id": self.conn_id,
                "url": self.url,
                "poke_interval": self.poke_interval,
                "once": self.once,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield an event for each change that was not reported before."""
        since = datetime.now(UTC) if self.since is None else datetime.fromisoformat(self.since)
        client = await async_client_of(self.conn_id, self.url)
        reported: set[str] = set()
        while True:
            found = await asyncio.to_thread(schema_changes, client, self.datasets, since)
            for change in found:
                if change.id not in reported:
                    reported.add(change.id)
                    yield TriggerEvent(change.as_json())
                    if self.once:
                        return
            await asyncio.sleep(self.poke_interval)


class SchemaChangeSensor(BaseSensorOperator):
    """A sensor that waits for a schema change that breaks readers of the given datasets.

    The change is the result of the task. Tasks after it can train a model again, or tell people.

    Args:
        datasets: Names or urns.
        since: ISO 8601; changes before it do not count. By default the start of the task.
        conn_id: An Airflow connection: its host is the address, its password the API key.
        url: Address of the API; by default HEADWATER_URL or the profile.
        deferrable: Wait in the triggerer.
    """

    template_fields = ("datasets", "since", "url")

    def __init__(
        self,
        *,
        datasets: Sequence[str],
        since: str | None = None,
        conn_id: str | None = None,
        url: str | None = None,
        deferrable: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.datasets = datasets
        self.since = since
        self.conn_id = conn_id
        self.url = url
        self.deferrable = deferrable

    def poke(self, context: Any) -> PokeReturnValue:
        """Return the first change since the beginning."""
        client = client_of(self.conn_id, self.url)
        found = schema_changes(client, self.datasets, datetime.fromisoformat(self._since(context)))
        return PokeReturnValue(bool(found), found[0].as_json() if found else None)

    def execute(self, context: Any) -> Any:
        """Wait in the worker or in the triggerer; return the change."""
        if not self.deferrable:
            return super().execute(context)
        found = self.poke(context)
        if not found.is_done:
            self.defer(
                trigger=SchemaChangeTrigger(
                    self.datasets,
                    since=self._since(context),
                    conn_id=self.conn_id,
                    url=self.url,
                    poke_interval=float(self.poke_interval),
                    once=True,
                ),
                method_name="execute_complete",
                timeout=timedelta(seconds=self.timeout),
            )
        return found.xcom_value

    def execute_complete(self, context: Any, event: Any = None) -> Any:  # noqa: ARG002
        """Return the change that the trigger reported."""
        if not event:
            raise AirflowException("the trigger ended without a schema change")
        return event

    def _since(self, context: Any) -> str:
        if self.since is not None:
            return self.since
        started: datetime = context["ti"].start_date
        return started.isoformat()
