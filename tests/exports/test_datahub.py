"""The metadata file of DataHub: proposals with the aspects that its models define."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.exports.datahub import datahub, datahub_dataset, platform_of
from headwater.exports.part import Part, find_part
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.run_builders import ds

CLEAN = "urn:li:dataset:(urn:li:dataPlatform:db,clean,PROD)"
RAW = "urn:li:dataset:(urn:li:dataPlatform:db,raw,PROD)"
MART = "urn:li:dataset:(urn:li:dataPlatform:s3,lake/mart,PROD)"


def aspects(view: GraphView, part: Part) -> dict[tuple[str, str], Any]:
    proposals = json.loads("".join(datahub(view, part)))
    return {
        (one["entityUrn"], one["aspectName"]): json.loads(one["aspect"]["value"])
        for one in proposals
    }


@pytest.mark.neo4j
def test_datasets_and_jobs_with_their_lineage(story: GraphView) -> None:
    found = aspects(story, find_part(story))
    lineage = found[CLEAN, "upstreamLineage"]
    assert [one["dataset"] for one in lineage["upstreams"]] == [RAW]
    assert {
        (one["upstreams"][0], one["downstreams"][0]) for one in lineage["fineGrainedLineages"]
    } == {
        (f"urn:li:schemaField:({RAW},{name})", f"urn:li:schemaField:({CLEAN},{name})")
        for name in ("id", "mail")
    }
    fields = found[CLEAN, "schemaMetadata"]["fields"]
    assert [(one["fieldPath"], *one["type"]["type"]) for one in fields] == [
        ("id", "com.linkedin.schema.NumberType"),
        ("mail", "com.linkedin.schema.StringType"),
        ("day", "com.linkedin.schema.DateType"),
    ]
    assert found[CLEAN, "ownership"]["owners"][0]["owner"] == "urn:li:corpuser:team:sales"
    flow = "urn:li:dataFlow:(headwater,etl,PROD)"
    assert found[f"urn:li:dataJob:({flow},rank)", "dataJobInputOutput"] == {
        "inputDatasets": [CLEAN],
        "outputDatasets": [MART],
    }


@pytest.mark.neo4j
def test_nothing_hidden_is_named(story: GraphView) -> None:
    text = "".join(datahub(story, Part(Visibility(("db",)))))
    assert "lake" not in text
    assert "rank" not in text
    assert json.loads("".join(datahub(story, Part(Visibility(("none",)))))) == []


def test_names_cannot_end_a_urn() -> None:
    assert datahub_dataset(ds("a,(b)")) == (
        "urn:li:dataset:(urn:li:dataPlatform:db,a%2C%28b%29,PROD)"
    )
    assert [platform_of(one) for one in ("s3a://x", "gs://b", "file", "postgres://h:1")] == [
        *("s3", "gcs", "file", "postgres")
    ]
