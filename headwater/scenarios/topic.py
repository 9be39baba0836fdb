"""A topic of a story: partitions as files, and a consumer with committed offsets.

Stories take it where the client of Kafka is missing (`headwater.scenarios.kafka_topic`).

A poll takes at most some records of each partition and commits the offsets behind them. It reports
the offsets as `headwater_stream` has them, so that the lag is what the files really hold.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.scenarios.rows import Row, Rows

PARTITIONS = 3
Offsets = list[dict[str, int]]


class Topic:
    """The log of a topic, and the offsets of its one consumer."""

    def __init__(self, folder: Path, partitions: int = PARTITIONS) -> None:
        """Open the topic in a folder, which is created."""
        self._folder = folder
        self._partitions = partitions
        folder.mkdir(parents=True, exist_ok=True)

    def publish(self, rows: Rows) -> None:
        """Append rows to the partitions, one after the other."""
        for number in range(self._partitions):
            with self._log(number).open("a", encoding="utf-8") as log:
                log.writelines(f"{json.dumps(row)}\n" for row in rows[number :: self._partitions])

    def poll(self, records_max: int) -> tuple[Rows, Offsets]:
        """Return the next records, and the offsets by partition.

        Args:
            records_max: The greatest number of records of one partition.
        """
        rows: Rows = []
        begins, latest, ends = self._committed(), [], []
        for number, begin in enumerate(begins):
            records = self._records(number)
            end = min(begin + records_max, len(records))
            rows += records[begin:end]
            ends.append(end)
            latest.append(len(records))
        self._write("committed.json", ends)
        self._write("polled.json", begins)
        return rows, offsets_of(begins, ends, latest)

    def latest(self) -> list[int]:
        """Return the offset behind the last record of each partition."""
        return [len(self._records(number)) for number in range(self._partitions)]

    def rewind(self) -> None:
        """Commit the offsets at which the last poll began."""
        self._write("committed.json", self._read("polled.json"))

    def _committed(self) -> list[int]:
        return self._read("committed.json")

    def _read(self, name: str) -> list[int]:
        file = self._folder / name
        if not file.exists():
            return [0] * self._partitions
        found: list[int] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def _write(self, name: str, offsets: list[int]) -> None:
        (self._folder / name).write_text(json.dumps(offsets), encoding="utf-8")

    def _records(self, number: int) -> list[Row]:
        with self._log(number).open(encoding="utf-8") as log:
            return [json.loads(line) for line in log]

    def _log(self, number: int) -> Path:
        file = self._folder / f"partition-{number}.jsonl"
        file.touch()
        return file


def offsets_of(begins: list[int], ends: list[int], latest: list[int]) -> Offsets:
    """Return the offsets of a poll by partition."""
    return [
        {"partition": number, "startOffset": begin, "endOffset": end, "latestOffset": last}
        for number, (begin, end, last) in enumerate(zip(begins, ends, latest, strict=True))
    ]


def stream_facet(offsets: Offsets) -> dict[str, Any]:
    """Return the facet of an input that names the offsets which a run read."""
    return {"headwater_stream": {"partitions": offsets}}
