"""The topics of a story: of a real Kafka, which starts with the first one, or of files."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.local.kafka import LocalKafka
from headwater.scenarios.topic import PARTITIONS, Topic

if TYPE_CHECKING:
    from headwater.scenarios.kafka_topic import KafkaTopic


class Topics:
    """The topics of one story by name."""

    def __init__(self, folder: Path, resources: ExitStack, *, uses_kafka: bool) -> None:
        """Start nothing yet.

        Args:
            folder: The folder of the broker, or of the files.
            resources: Ends the broker.
            uses_kafka: Whether topics are of a real Kafka, if its client is installed.
        """
        self._folder = folder
        self._resources = resources
        self._uses_kafka = uses_kafka
        self._opened: dict[str, Topic | KafkaTopic] = {}

    def open(self, name: str, partitions: int = PARTITIONS) -> Topic | KafkaTopic:
        """Return the topic of this name; the first call creates it."""
        from headwater.scenarios.kafka_topic import KafkaTopic, has_client

        if name not in self._opened:
            if self._uses_kafka and has_client():
                self._opened[name] = KafkaTopic(self.brokers, name, partitions)
            else:
                self._opened[name] = Topic(self._folder / name, partitions)
        return self._opened[name]

    @cached_property
    def brokers(self) -> str:
        """Return the address of the broker; the first call starts it."""
        named = os.environ.get("HEADWATER_CACHE")
        kafka = LocalKafka(self._folder / "kafka", cache=Path(named) if named else None)
        return self._resources.enter_context(kafka).bootstrap
