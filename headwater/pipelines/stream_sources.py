"""Where a stream reads from, and where what cannot be folded goes: topics of Kafka, or folders.

A source gives every message as a row of `stream_chunks.COLUMNS`. A secret of Kafka's is never an argument, which
everybody on the machine can read: it is written `NAME=env:VARIABLE` or `NAME=file:PATH`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from headwater.errors import SettingsError
from headwater.pipelines.stream_chunks import DeadMessage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

_SECRET = re.compile("password|jaas|secret|token(?!.endpoint)|key.pem|keystore.key", re.IGNORECASE)
_DEAD_SCHEMA = "key binary, value binary, headers array<struct<key: string, value: binary>>"


def read_options(given: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Options written NAME=VALUE, NAME=env:VARIABLE or NAME=file:PATH. Raises SettingsError, which tells no value."""
    options = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise SettingsError(
                f"--option {name!r} has no value", hint="Write --option NAME=VALUE."
            )
        if value.startswith("env:"):
            variable = value.removeprefix("env:")
            if variable not in environment:
                raise SettingsError(
                    f"--option {name}: there is no variable {variable} in the environment"
                )
            value = environment[variable]
        elif value.startswith("file:") and _SECRET.search(name):
            try:
                value = (
                    Path(value.removeprefix("file:"))
                    .expanduser()
                    .read_text(encoding="utf-8")
                    .strip()
                )
            except OSError as error:
                raise SettingsError(
                    f"--option {name}: its file cannot be read: {error.strerror}"
                ) from error
        elif _SECRET.search(name):
            raise SettingsError(
                f"--option {name} is a secret, and everybody on this machine can read a command's arguments",
                hint=f"Write --option {name}=env:VARIABLE or --option {name}=file:PATH.",
            )
        options[name] = value
    return options


class Source(Protocol):
    """What a stream is told from."""

    def open(self, spark: SparkSession) -> DataFrame:
        """A streaming frame of `stream_chunks.COLUMNS`."""

    def send_dead_letters(
        self, spark: SparkSession, batch: int, dead: Sequence[DeadMessage]
    ) -> None:
        """Keep these where they can be looked at and sent again. After it returns they are safe there."""


class KafkaSource(msgspec.Struct, frozen=True):
    """Topics of Kafka. `options` are Spark's (`kafka.` and a name are Kafka's own), `dead` is the topic for what could
    not be folded."""

    bootstrap: str
    topics: str
    dead: str
    since: str = "earliest"
    offsets_max: int = 10_000
    options: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"topic {self.topics} of {self.bootstrap}"

    def open(self, spark: SparkSession) -> DataFrame:
        """Raises what Spark raises when it lacks the connector."""
        reader: DataStreamReader = spark.readStream.format("kafka")
        own = {
            "subscribe": self.topics,
            "startingOffsets": self.since,
            "maxOffsetsPerTrigger": str(self.offsets_max),
        }
        rows = reader.options(**{**self._kafka(), **own, **self.options}).load()
        return rows.selectExpr(
            "topic",
            "partition",
            "offset AS start",
            "unix_micros(timestamp) AS received",
            "key",
            "value",
        )

    def send_dead_letters(
        self,
        spark: SparkSession,
        batch: int,  # noqa: ARG002
        dead: Sequence[DeadMessage],
    ) -> None:
        """The message as it came, but redacted, so that it can be sent again once it is resolved. Its headers tell why it
        is dead and where it stood."""
        rows = [(one.message.key, one.message.body, _headers(one)) for one in dead]
        frame = spark.createDataFrame(rows, _DEAD_SCHEMA).coalesce(1)
        writer = (
            frame.write.format("kafka").option("topic", self.dead).option("includeHeaders", "true")
        )
        of_kafka = {
            name: value for name, value in self.options.items() if name.startswith("kafka.")
        }
        writer.options(**{**self._kafka(), **of_kafka}).save()

    def _kafka(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.bootstrap}


class FileSource(msgspec.Struct, frozen=True):
    """A folder to which files of JSON lines are added, each whole (moved in by rename), plain or gzip. `dead` is the
    folder for what could not be folded."""

    folder: str
    dead: str
    files_max: int = 100
    options: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"files in {self.folder}"

    def open(self, spark: SparkSession) -> DataFrame:
        """Raises what Spark raises when there is no such folder."""
        own = {"maxFilesPerTrigger": str(self.files_max), "recursiveFileLookup": "true"}
        rows = spark.readStream.format("text").options(**{**own, **self.options}).load(self.folder)
        # Cast, a line is the very bytes of the file, also where they are no UTF-8.
        return rows.where("trim(value) != ''").selectExpr(
            "_metadata.file_path AS topic",
            "-1 AS partition",
            "-1L AS start",
            "unix_micros(_metadata.file_modification_time) AS received",
            "CAST(NULL AS binary) AS key",
            "CAST(value AS binary) AS value",
        )

    def send_dead_letters(
        self,
        spark: SparkSession,  # noqa: ARG002
        batch: int,
        dead: Sequence[DeadMessage],
    ) -> None:
        """One file a batch, one JSON object a line: reason, file, and the line itself, redacted."""
        folder = Path(self.dead)
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".{batch:09}-{os.getpid()}"
        with fresh.open("w", encoding="utf-8") as file:
            for one in dead:
                said = {
                    "reason": one.reason,
                    "file": one.message.topic,
                    "event": one.message.body.decode(errors="replace"),
                }
                file.write(json.dumps(said) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / f"batch-{batch:09}.jsonl")


def _headers(dead: DeadMessage) -> list[tuple[str, bytes]]:
    message = dead.message
    said = {
        "reason": dead.reason,
        "topic": message.topic,
        "partition": message.partition,
        "offset": message.start,
    }
    return [(f"headwater.{name}", str(value).encode()) for name, value in said.items()]
