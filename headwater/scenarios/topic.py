"""A topic of a story: partitions as files, and a consumer with committed offsets.

A poll takes at most some records of each partition and commits the offsets behind them. It reports
the offsets as `headwater_stream` has them, so that the lag is what the files really hold.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwater.scenarios.workshop import Row, Rows

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
        offsets: Offsets = []
        begins = self._committed()
        for number in range(self._partitions):
            records = self._records(number)
            begin = begins[number]
            end = min(begin + records_max, len(records))
            rows += records[begin:end]
            offsets.append(
                {
                    "partition": number,
                    "startOffset": begin,
                    "endOffset": end,
                    "latestOffset": len(records),
                }
            )
        self.seek([one["endOffset"] for one in offsets])
        self._write("polled.json", [one["startOffset"] for one in offsets])
        return rows, offsets

    def seek(self, offsets: list[int]) -> None:
        """Commit offsets, one for each partition."""
        self._write("committed.json", offsets)

    def rewind(self) -> None:
        """Commit the offsets at which the last poll began."""
        self.seek(self._read("polled.json"))

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


def stream_facet(offsets: Offsets) -> dict[str, Any]:
    """Return the facet of an input that names the offsets which a run read."""
    return {"headwater_stream": {"partitions": offsets}}
