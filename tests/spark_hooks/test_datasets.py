"""Citations that need no Spark; `test_session.py` has paths, tables and DataFrames."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.errors import SettingsError
from headwater.spark_hooks.datasets import citations

TABLE = {"namespace": "db", "name": "t"}


def test_mappings_are_cited_once_in_order() -> None:
    spark: Any = None
    sources = [TABLE, {"answerId": "a"}, dict(TABLE), {**TABLE, "runId": "r"}]
    assert citations(spark, sources) == [TABLE, {"answerId": "a"}, {**TABLE, "runId": "r"}]


@pytest.mark.parametrize("source", [{}, {"namespace": "db"}, 7, " "])
def test_another_source_is_refused(source: Any) -> None:
    spark: Any = None
    with pytest.raises(SettingsError):
        citations(spark, [source])
