"""The lineage audit: each column that a run wrote, with its documented sources or none."""

from __future__ import annotations

import csv

import pytest

from headwater.exports.audit_csv import HEADER, audit
from headwater.exports.part import Part, find_part
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.exports.story import LOAD, RANK
from tests.run_builders import ds, run_of

pytestmark = pytest.mark.neo4j


def rows(view: GraphView, part: Part) -> list[dict[str, str]]:
    return list(csv.DictReader("".join(audit(view, part)).splitlines()))


def test_every_output_column_has_its_source_or_none(story: GraphView) -> None:
    found = {
        (row["run"], row["dataset"], row["column"]): (
            *(row["source_table"], row["source_column"], row["documented"]),
        )
        for row in rows(story, find_part(story))
    }
    load = run_of(LOAD)
    assert found == {
        (load, ds("clean"), "id"): (ds("raw"), "id", "true"),
        (load, ds("clean"), "mail"): (ds("raw"), "mail", "true"),
        (load, ds("clean"), "day"): ("", "", "false"),
        (run_of(RANK), "dataset:s3%3A//lake:mart", ""): ("", "", "false"),
    }


def test_the_header_is_written_without_rows(story: GraphView) -> None:
    text = "".join(audit(story, Part(Visibility(("other",)))))
    assert text == ",".join(HEADER) + "\n"
