"""The registry of facets, and the facets that real producers send."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest

from headwater.schema.events import Event, parse
from headwater.schema.facets import FACETS, Entity, is_valid, kind_of
from tests.schema.facets import (
    test_dataset,
    test_job,
    test_lineage,
    test_parent,
    test_run,
    test_usage,
)

CAPTURES = Path(__file__).parent.parent / "captures"
MODULES = (test_dataset, test_job, test_lineage, test_parent, test_run, test_usage)


def test_every_facet_has_an_example() -> None:
    examples = chain.from_iterable(module.EXAMPLES for module in MODULES)
    assert {example[:2] for example in examples} == FACETS.keys()


def test_unknown_facets_break_nothing() -> None:
    assert kind_of("run", "spark_properties") is None
    assert is_valid("run", "spark_properties", b'{"properties": 7}')


def _facets_of(event: Event) -> set[tuple[Entity, str, bytes]]:
    containers: list[tuple[Entity, Any]] = [
        ("run", event.run and event.run.facets),
        ("job", event.job and event.job.facets),
    ]
    containers += [("dataset", dataset.facets) for dataset in (*event.inputs, *event.outputs)]
    containers += [("input", dataset.input_facets) for dataset in event.inputs]
    containers += [("output", dataset.output_facets) for dataset in event.outputs]
    facets = set[tuple[Entity, str, bytes]]()
    for entity, raw_facets in containers:
        facets.update((entity, key, bytes(raw)) for key, raw in (raw_facets or {}).items())
    return facets


@pytest.mark.parametrize("capture", sorted(CAPTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_of_real_producers_only_the_local_data_source_breaks_its_schema(capture: Path) -> None:
    facets: set[tuple[Entity, str, bytes]] = set()
    for line in capture.read_bytes().splitlines():
        facets |= _facets_of(parse(line, received=0))
    broken = {(entity, key) for entity, key, raw in facets if not is_valid(entity, key, raw)}
    assert broken <= {("dataset", "dataSource")}
    assert {entity for entity, _, _ in facets} <= set(get_args(Entity))
