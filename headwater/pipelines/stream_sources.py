"""The sources of a stream and the destinations of its dead letters: Kafka topics, or folders.

A source yields every message as a row of `stream_chunks.COLUMNS`. Kafka secrets are never command
line arguments, which all users of the machine can read; they are given as `NAME=env:VARIABLE` or
`NAME=file:PATH`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from headwater.addresses import shown
from headwater.errors import SettingsError
from headwater.pipelines.kafka_messages import OVERFLOW, read_in_driver
from headwater.pipelines.stream_chunks import DeadMessage

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

_SECRET = re.compile("password|jaas|secret|token(?!.endpoint)|key.pem|keystore.key", re.IGNORECASE)
# The prefix of the options of Kafka's own.
_PREFIX = "kafka."
_DEAD_SCHEMA = "key binary, value binary, headers array<struct<key: string, value: binary>>"


def read_options(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Parse options of the forms NAME=VALUE, NAME=env:VARIABLE and NAME=file:PATH.

    Raises SettingsError, whose text contains no value.
    """
    options = {}
    for text in arguments:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise SettingsError(
                f"--option {name!r} has no value", hint="Write --option NAME=VALUE."
            )
        if value.startswith("env:"):
            variable = value.removeprefix("env:")
            if variable not in environment:
                raise SettingsError(f"--option {name}: the environment has no variable {variable}")
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
                    f"--option {name}: the file cannot be read: {error.strerror}"
                ) from error
        elif _SECRET.search(name):
            raise SettingsError(
                f"--option {name} is a secret, and all users of this machine can read arguments",
                hint=f"Write --option {name}=env:VARIABLE or --option {name}=file:PATH.",
            )
        options[name] = value
    return options


class Source(Protocol):
    """A source of messages with a destination for dead letters."""

    def open(self, spark: SparkSession) -> DataFrame:
        """Return a streaming frame with `stream_chunks.COLUMNS`."""

    def read_again(self, frame: DataFrame, error: Exception) -> Iterator[pyarrow.RecordBatch]:
        """Yield the messages of a batch that Spark could not read; raise its error if that would
        not help.

        A repeated call yields the same batches.
        """

    def send_dead_letters(
        self, spark: SparkSession, batch: int, dead: Sequence[DeadMessage]
    ) -> None:
        """Store messages where users can read and resend them; return once they are safe."""


class KafkaSource(msgspec.Struct, frozen=True):
    """Topics of Kafka.

    `dead` is the topic of dead letters. `options` are those of Spark's source; names that begin
    with `kafka.` are Kafka's own.
    """

    bootstrap: str
    topics: str
    dead: str
    since: str = "earliest"
    offsets_max: int = 10_000
    options: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"topic {self.topics} of {shown(self.bootstrap)}"

    def open(self, spark: SparkSession) -> DataFrame:
        """Return a streaming frame; raises Spark's error if the Kafka connector is missing."""
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
            # Kafka counts milliseconds; the offset orders the messages within one.
            "unix_micros(timestamp) + offset % 1000 AS received",
            "key",
            "value",
        )

    def read_again(self, frame: DataFrame, error: Exception) -> Iterator[pyarrow.RecordBatch]:
        """Yield the messages of a batch with a timestamp that Spark cannot read."""
        if OVERFLOW not in str(error):
            raise error
        options = self._kafka().items()
        return read_in_driver(frame, {name.removeprefix(_PREFIX): value for name, value in options})

    def send_dead_letters(
        self,
        spark: SparkSession,
        batch: int,  # noqa: ARG002
        dead: Sequence[DeadMessage],
    ) -> None:
        """Send the redacted messages to the dead topic, so that users can resend them.

        The headers hold the reason and the place of the message.
        """
        rows = [
            (dead_letter.message.key, dead_letter.message.body, _headers(dead_letter))
            for dead_letter in dead
        ]
        frame = spark.createDataFrame(rows, _DEAD_SCHEMA).coalesce(1)
        writer = (
            frame.write.format("kafka").option("topic", self.dead).option("includeHeaders", "true")
        )
        writer.options(**self._kafka()).save()

    def _kafka(self) -> dict[str, str]:
        """Return the options of Kafka's own."""
        own = {name: value for name, value in self.options.items() if name.startswith(_PREFIX)}
        return {f"{_PREFIX}bootstrap.servers": self.bootstrap, **own}


class FileSource(msgspec.Struct, frozen=True):
    """A folder to which complete files of JSON lines are added by rename, plain or gzip.

    `dead` is the folder of dead letters.
    """

    folder: str
    dead: str
    files_max: int = 100
    options: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"files in {self.folder}"

    def open(self, spark: SparkSession) -> DataFrame:
        """Return a streaming frame; raises Spark's error if the folder does not exist."""
        own = {"maxFilesPerTrigger": str(self.files_max), "recursiveFileLookup": "true"}
        rows = spark.readStream.format("text").options(**{**own, **self.options}).load(self.folder)
        # The cast keeps the bytes of the file, also if they are not UTF-8.
        return rows.where("trim(value) != ''").selectExpr(
            "_metadata.file_path AS topic",
            "-1 AS partition",
            "-1L AS start",
            "unix_micros(_metadata.file_modification_time) AS received",
            "CAST(NULL AS binary) AS key",
            "CAST(value AS binary) AS value",
        )

    def read_again(
        self,
        frame: DataFrame,  # noqa: ARG002
        error: Exception,
    ) -> Iterator[pyarrow.RecordBatch]:
        """Raise the error: a file has no other reader."""
        raise error

    def send_dead_letters(
        self,
        spark: SparkSession,  # noqa: ARG002
        batch: int,
        dead: Sequence[DeadMessage],
    ) -> None:
        """Write a file for the batch: JSON lines with reason, file and redacted line."""
        folder = Path(self.dead)
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{batch:09}-{os.getpid()}"
        with partial.open("w", encoding="utf-8") as file:
            for dead_letter in dead:
                letter = {
                    "reason": dead_letter.reason,
                    "file": dead_letter.message.topic,
                    "event": dead_letter.message.body.decode(errors="replace"),
                }
                file.write(json.dumps(letter) + "\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / f"batch-{batch:09}.jsonl")


def _headers(dead: DeadMessage) -> list[tuple[str, bytes]]:
    message = dead.message
    headers = {
        "reason": dead.reason,
        "topic": message.topic,
        "partition": message.partition,
        "offset": message.start,
    }
    return [(f"headwater.{name}", str(value).encode()) for name, value in headers.items()]
