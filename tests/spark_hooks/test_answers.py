"""Arguments of `cite` that are refused before Spark or Headwater is asked.

`tests/spark_hooks/spark_jobs.py` cites real data.
"""

from __future__ import annotations

from typing import Any

import pytest

from headwater.errors import SettingsError
from headwater.spark_hooks.answers import cite

NO_SESSION: Any = None


@pytest.mark.parametrize("answer_id", ["", "  "])
def test_an_answer_needs_an_id(answer_id: str) -> None:
    with pytest.raises(SettingsError, match="answer_id is empty"):
        cite(NO_SESSION, answer_id=answer_id, from_=["/data/t"])


@pytest.mark.parametrize("sources", ["/data/t", {"namespace": "db", "name": "t"}, []])
def test_sources_are_a_list_of_at_least_one(sources: Any) -> None:
    with pytest.raises(SettingsError, match="from_ must be a list"):
        cite(NO_SESSION, answer_id="q1", from_=sources)
