"""`project`: from joined facts to what the graph shows of them. Pure: the same facts give the same rows.

A projection never looks at what was projected before, so nothing here can depend on the order of arrival. What
spans several entities (which version of a dataset was current when a run started, which runs are attempts of one,
which names are one dataset) is in the modules beside it.
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
    "time_at",
    "without_nulls",
]
