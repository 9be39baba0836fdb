"""Project joined facts to the properties of the graph. Pure: no I/O, no clock.

A projection never reads earlier projections, so it cannot depend on the order of arrival. Relations
between entities are computed in `ingest.write`: the version of a dataset that a run read, the
attempts of one schedule slot, the aliases of one dataset.
"""

from __future__ import annotations

from headwater.ingest.project.answers import AnswerView, Citation, answer_view, cited_names
from headwater.ingest.project.datasets import (
    UNREGISTERED_SOURCE,
    DatasetView,
    column_properties,
    dataset_view,
    source_properties,
)
from headwater.ingest.project.jobs import job_properties
from headwater.ingest.project.quality import mark_version
from headwater.ingest.project.runs import DatasetRead, RunView, RunViews, run_view
from headwater.ingest.project.tags import tag_properties
from headwater.ingest.project.values import (
    Names,
    Properties,
    canonical_name,
    changed_properties,
    differs_visibly,
    is_repeated_observation,
    last_seen_row,
    time_at,
    without_nulls,
)

__all__ = [
    "UNREGISTERED_SOURCE",
    "AnswerView",
    "Citation",
    "DatasetRead",
    "DatasetView",
    "Names",
    "Properties",
    "RunView",
    "RunViews",
    "answer_view",
    "canonical_name",
    "changed_properties",
    "cited_names",
    "column_properties",
    "dataset_view",
    "differs_visibly",
    "is_repeated_observation",
    "job_properties",
    "last_seen_row",
    "mark_version",
    "run_view",
    "source_properties",
    "tag_properties",
    "time_at",
    "without_nulls",
]
