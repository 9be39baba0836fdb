"""Reports of data quality and their markers, computed by hand."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from headwater.ingest.project import (
    mark_version,
)
from tests.ingest.project.projections import (
    FACET,
    at,
    event,
    moment,
    run,
)


def test_datasets_with_quality_reports_are_marked() -> None:
    def used(minute: int, state: str, success: bool, **metrics: str) -> dict[str, Any]:
        content = {"assertions": [{"assertion": "a", "success": success}]}
        facets = {
            "dataQualityAssertions": {**FACET, **content},
            "dataQualityMetrics": {**FACET, **metrics},
        }
        inputs = [
            {"namespace": "db", "name": "t", "inputFacets": facets},
            {"namespace": "db", "name": "u"},
        ]
        return event(minute, state, inputs=inputs if state == "START" else [])

    keys = ("qualityDataset", "reportedAt", "checkedVersion", "updatedVersion", "failingVersion")

    def marks(*events: dict[str, Any]) -> list[tuple[Any, ...]]:
        marked_uses = [
            mark_version(f"version of {use.dataset}", use.properties) for use in run(*events).reads
        ]
        return [itemgetter(*keys)(properties) for properties in marked_uses]

    t, u = "dataset:db:t", "dataset:db:u"
    nothing = (None, None, None, None, None)
    assert marks(used(1, "START", True, rowCount="1")) == [
        (t, moment(1), f"version of {t}", None, None),
        nothing,
    ]
    # The report is of the end of the run and of the update; failed tests concern every input.
    markers = marks(used(1, "START", False, lastUpdated=at(0)), used(5, "FAIL", False))
    assert markers == [
        (t, moment(5), f"version of {t}", f"version of {t}", f"version of {t}"),
        (None, moment(5), None, None, f"version of {u}"),
    ]
    made = {
        "namespace": "db",
        "name": "t",
        "outputFacets": {"dataQualityMetrics": {**FACET, "rowCount": 1}},
    }
    [produced] = run(event(3, "COMPLETE", outputs=[made])).produced.values()
    assert (produced["qualityDataset"], produced["reportedAt"]) == (t, moment(3))
