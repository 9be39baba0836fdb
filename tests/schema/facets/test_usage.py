"""Facets of inputs and outputs."""

from __future__ import annotations

import pytest

from tests.schema.facets.examples import TIME, Example, check_example, name_of

COMPARED = {
    "type": "compare",
    "left": {"type": "field", "field": "f"},
    "right": {"type": "literal", "value": "1"},
}
CONDITION = {**COMPARED, "comparison": "EQUAL"}
METRICS = {
    "rowCount": 3,
    "columnMetrics": {"c": {"nullCount": 0, "sum": 1.5, "quantiles": {"0.5": 2}}},
}
EXAMPLES: list[Example] = [
    (
        "input",
        "dataQualityAssertions",
        {"assertions": [{"assertion": "unique", "success": True}]},
        {"assertions": [{"assertion": "unique"}]},
        "assertions[].success",
    ),
    (
        "input",
        "dataQualityMetrics",
        {**METRICS, "lastUpdated": TIME},
        {"columnMetrics": {"c": {"nullCount": 0.5}}},
        "columnMetrics[].nullCount",
    ),
    ("input", "inputStatistics", {"rowCount": 3.0, "size": 10}, {"rowCount": "3"}, "rowCount"),
    (
        "input",
        "subset",
        {
            "inputCondition": {
                "type": "binary",
                "left": CONDITION,
                "right": CONDITION,
                "operator": "AND",
            }
        },
        {"inputCondition": {**COMPARED, "type": "compare"}},
        "inputCondition.comparison",
    ),
    ("output", "outputStatistics", {"rowCount": 3, "fileCount": None}, {"size": 1.5}, "size"),
    (
        "output",
        "subset",
        {"outputCondition": {"type": "partition", "partitions": [{"dimensions": {"day": 1}}]}},
        {"outputCondition": {"type": "location", "locations": "s3://lake"}},
        "outputCondition.locations",
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_a_valid_facet_passes_and_a_fault_is_reported_at_its_path(example: Example) -> None:
    check_example(example)
