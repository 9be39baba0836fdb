"""`project`: from joined facts to what the graph shows of them. Pure: the same facts give the same rows.

A projection never looks at what was projected before, so nothing here can depend on the order of arrival. What
spans several entities (which version of a dataset was current when a run started, which runs are attempts of one,
which names are one dataset) is in the modules beside it.
"""

from __future__ import annotations

from headwater.ingest.project.answers import AnswerView, Citation, answer_view, cited_names
from headwater.ingest.project.datasets import (
    NO_SOURCE,
    DatasetView,
    column_properties,
    dataset_view,
    source_properties,
)
from headwater.ingest.project.jobs import job_properties
from headwater.ingest.project.quality import marked
from headwater.ingest.project.runs import RunView, RunViews, Use, run_view
from headwater.ingest.project.values import (
    Names,
    Properties,
    differing,
    is_only_seen_again,
    is_shown,
    named,
    seen_again,
    time_at,
    told,
)

__all__ = [
    "NO_SOURCE",
    "AnswerView",
    "Citation",
    "DatasetView",
    "Names",
    "Properties",
    "RunView",
    "RunViews",
    "Use",
    "answer_view",
    "cited_names",
    "column_properties",
    "dataset_view",
    "differing",
    "is_only_seen_again",
    "is_shown",
    "job_properties",
    "marked",
    "named",
    "run_view",
    "seen_again",
    "source_properties",
    "time_at",
    "told",
]
