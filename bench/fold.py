"""Measure the worker's CPU time per event before Neo4j: parse, fold, producer statistics,
conformance.

    python -m bench.fold
    python -m bench.fold --runs 20000 --repeats 10

Known jobs had runs before; only runs, times and row counts are new. Unseen jobs had no events, so
no memo helps. The captures of real producers are replayed in every repeat with other runs and
times; as unseen events they also have another producer in every facet.

The floor, in the same run: msgspec decodes the envelope of the same bytes and nothing else.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from bench.events import events
from bench.report import Report, print_progress, spread
from headwater.ingest.fold.undated_events import fold_received
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.schema.events import Event, parse, parse_instant, to_datetime

CAPTURES = Path(__file__).parent.parent / "tests" / "captures"
BATCH_EVENTS = 1_000
_RECEIVED = parse_instant("2026-12-31T00:00:00Z")
# Streams of unseen jobs lie in the future of _RECEIVED; they are folded by their own times.
_FUTURE_SECONDS = 10_000_000_000
STEPS = ("decode", "parse", "fold", "tally")
_numbers = count()


class _Envelope(msgspec.Struct):
    """The least that can be decoded of an event: the positions of its parts."""

    run: msgspec.Raw = msgspec.Raw()
    job: msgspec.Raw = msgspec.Raw()
    inputs: list[msgspec.Raw] = []
    outputs: list[msgspec.Raw] = []


_floor = msgspec.json.Decoder(_Envelope)


def spent(bodies: Sequence[bytes]) -> dict[str, float]:
    """Return the CPU seconds of each step over these events, in batches like the worker's."""
    taken = dict.fromkeys(STEPS, 0.0)
    for start in range(0, len(bodies), BATCH_EVENTS):
        for step, seconds in zip(STEPS, _steps(bodies[start : start + BATCH_EVENTS]), strict=True):
            taken[step] += seconds
    return taken


def _steps(bodies: Sequence[bytes]) -> Iterator[float]:
    began = time.process_time()
    for body in bodies:
        _floor.decode(body)
    yield time.process_time() - began
    began = time.process_time()
    parsed = [parse(body, received=_RECEIVED) for body in bodies]
    yield time.process_time() - began
    began = time.process_time()
    fold_received(zip(parsed, bodies, strict=True), future_seconds=_FUTURE_SECONDS)
    yield time.process_time() - began
    began = time.process_time()
    _tallied(bodies, parsed)
    yield time.process_time() - began


def _tallied(bodies: Sequence[bytes], parsed: Sequence[Event]) -> ProducerStats:
    producer_stats = ProducerStats()
    for seq, (body, event) in enumerate(zip(bodies, parsed, strict=True)):
        count_event(
            _RECEIVED,
            seq,
            body,
            event,
            future_seconds=_FUTURE_SECONDS,
            into=producer_stats,
        )
    return producer_stats


def measured(streams: Iterator[list[bytes]], repeats: int) -> dict[str, Any]:
    """Return microseconds an event for each step, and events a second for all steps, over several
    streams.
    """
    micros: dict[str, list[float]] = {step: [] for step in STEPS}
    a_second, sizes = [], []
    for _ in range(repeats):
        bodies = next(streams)
        gc.collect()
        taken = spent(bodies)
        for step, seconds in taken.items():
            micros[step].append(seconds / len(bodies) * 1e6)
        a_second.append(len(bodies) / sum(taken[step] for step in STEPS if step != "decode"))
        sizes.append(sum(map(len, bodies)) / len(bodies))
    return {
        "bytesPerEvent": round(sum(sizes) / len(sizes)),
        "microsecondsPerEvent": {step: spread(values) for step, values in micros.items()},
        "eventsPerSecond": spread(a_second),
    }


def standard(runs: int, jobs: int) -> Iterator[list[bytes]]:
    """Yield streams of runs of the same jobs."""
    for number in count():
        yield list(events(runs, jobs, first=number * runs))


def unseen(runs: int) -> Iterator[list[bytes]]:
    """Yield streams in which every run has a job of its own."""
    for number in count(1):
        yield list(events(runs, 2**62, first=number * 10_000_000))


def captured(path: Path, *, is_known: bool) -> Iterator[list[bytes]]:
    """Yield a producer's recorded events with other runs and times; unless known, with another
    producer.
    """
    lines = path.read_bytes().splitlines()
    for number in count():
        yield [_replayed(line, number, is_known=is_known) for line in lines]


def _replayed(line: bytes, number: int, *, is_known: bool) -> bytes:
    event = json.loads(line)
    moved = to_datetime(parse_instant(event["eventTime"]) + number * 3_600_000_000)
    event["eventTime"] = moved.isoformat().replace("+00:00", "Z")
    text = json.dumps(event, separators=(",", ":"))
    if event.get("run"):
        run = event["run"]["runId"]
        text = text.replace(run, f"{number:08x}{run[8:]}")
    if not is_known:
        # Every facet of the event differs, because each names its producer.
        text = text.replace('"_producer":"', f'"_producer":"https://{next(_numbers)}.example.com/')
    return text.encode()


def main(argv: Sequence[str] | None = None) -> None:
    chosen = _parse_arguments(argv)
    report = Report("fold")
    found: dict[str, Any] = {}
    if chosen.only != "captures":
        print_progress(f"standard events: {chosen.runs} runs a repeat")
        found["standard"] = {
            "unseen": measured(unseen(chosen.runs), chosen.repeats),
            "known": {
                str(jobs): _measure_known(chosen.runs, jobs, chosen.repeats) for jobs in chosen.jobs
            },
        }
    for path in sorted(CAPTURES.glob("*.jsonl")) if chosen.only != "standard" else ():
        print_progress(path.stem)
        streams = captured(path, is_known=True)
        next(streams)
        found.setdefault("captures", {})[path.stem] = {
            "unseen": measured(captured(path, is_known=False), chosen.repeats),
            "known": measured(streams, chosen.repeats),
        }
    report.show(runs=chosen.runs, repeats=chosen.repeats, batch=BATCH_EVENTS, **found)


def _measure_known(runs: int, jobs: int, repeats: int) -> dict[str, Any]:
    streams = standard(runs, jobs)
    for _ in range(-(-jobs // runs)):
        spent(next(streams))
    return measured(streams, repeats)


def _parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=2_500, help="runs in a repeat, two events each")
    parser.add_argument(
        "--jobs", type=int, nargs="+", default=[100, 1_000, 5_000], help="jobs that take turns"
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", choices=["standard", "captures"])
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
