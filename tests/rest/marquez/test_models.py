"""The types of Marquez: JSON keys in camel case, and the bounds of a page."""

from __future__ import annotations

import msgspec
import pytest

from headwater.rest.marquez import models


def test_json_keys_are_in_camel_case() -> None:
    field = models.InputField(namespace="db", dataset="orders", field="id", dataset_version="v")
    assert msgspec.to_builtins(field) == {
        "namespace": "db",
        "dataset": "orders",
        "field": "id",
        "datasetVersion": "v",
        "transformationDescription": None,
        "transformationType": None,
    }
    node = models.JobNode(id="job:etl:load", data=None, in_edges=[], out_edges=[])
    assert msgspec.to_builtins(node)["type"] == "JOB"


def test_a_page_has_bounds() -> None:
    page = msgspec.convert({"limit": "2"}, models.Page, strict=False)
    assert (page.limit, page.offset) == (2, 0)
    for bounds in ({"limit": "1001"}, {"limit": "-1"}, {"offset": "1000001"}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(bounds, models.Page, strict=False)
