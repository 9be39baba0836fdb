"""The stored form of facts: lossless in any thread, with an error for malformed bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.fold import fold
from headwater.schema.events import parse
from headwater.schema.facts import RunFacts
from headwater.schema.facts_codec import pack, pack_json, unpack_json
from tests.run_builders import run

CAPTURE = Path(__file__).parents[1] / "captures" / "spark_shop.jsonl"


@given(st.text(max_size=5_000))
def test_stored_facts_are_read_back(text: str) -> None:
    assert unpack_json(pack_json(text.encode())) == text


def test_facts_are_stored_as_json_in_a_fixed_order() -> None:
    delta = fold(
        [parse(msgspec.json.encode(event), received=0) for event in run("r", "j", ["a"], ["b"])]
    )
    (facts,) = delta.runs.values()
    assert msgspec.json.decode(unpack_json(pack(facts)), type=RunFacts) == facts
    assert pack(facts) == pack(msgspec.json.decode(msgspec.json.encode(facts), type=RunFacts))


def test_a_recorded_run_takes_a_fifth_of_its_bytes() -> None:
    delta = fold([parse(line, received=0) for line in CAPTURE.read_bytes().splitlines()])
    texts = [msgspec.json.encode(facts, order="sorted") for facts in delta.runs.values()]
    assert sum(len(pack_json(text)) for text in texts) < sum(map(len, texts)) / 5


def test_concurrent_threads() -> None:
    texts = [
        f'{{"run_id": "{number}", "what": "{"x" * (number % 700)}"}}' for number in range(4_000)
    ]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: unpack_json(pack_json(text.encode())), texts)) == texts


@pytest.mark.parametrize(
    "malformed", [b"", b"facts", b'{"facets": {}}', pack_json(b"a text that is cut")[:-3]]
)
def test_malformed_facts_are_refused(malformed: bytes) -> None:
    with pytest.raises(ValueError, match="the bytes are no packed facts"):
        unpack_json(malformed)
