"""Train the compression dictionary of packed facts on recorded producers (tests/captures).

    python -m scripts.dictionary headwater/schema/facts_codec.dictionary

Use it only for a new kind of graph: facts packed with one dictionary cannot be read with another.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import zstandard

from headwater.errors import HeadwaterError
from headwater.ingest.fold import fold
from headwater.schema.events import Event, parse

_CAPTURES = Path(__file__).parents[1] / "tests" / "captures"
_BYTES = 8_192
# A few very large values would fill the dictionary with content of their own.
_SAMPLE_BYTES_MAX = 20_000


def facts(capture: Path) -> list[bytes]:
    """Return the facts, as JSON, that one recorded stream leaves in a graph."""
    events = [event for line in capture.read_bytes().splitlines() if (event := _event(line))]
    delta = fold(events)
    of_nodes: list[msgspec.Struct] = [
        *delta.runs.values(),
        *delta.jobs.values(),
        *delta.datasets.values(),
        *delta.answers.values(),
    ]
    return [msgspec.json.encode(one, order="sorted") for one in of_nodes]


def _event(line: bytes) -> Event | None:
    try:
        return parse(line, received=0)
    except HeadwaterError:
        return None


def main() -> None:
    samples = [text for capture in sorted(_CAPTURES.glob("*.jsonl")) for text in facts(capture)]
    small: list[bytes | bytearray | memoryview[int]] = [
        text for text in samples if len(text) < _SAMPLE_BYTES_MAX
    ]
    Path(sys.argv[1]).write_bytes(zstandard.train_dictionary(_BYTES, small, level=5).as_bytes())


if __name__ == "__main__":
    main()
