"""Edges that were current at an instant, from rows as Neo4j returns them; worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.lineage.traversal.past_edges import PastEdges

INPUTS, OUTPUTS = "read/traversal/job_inputs_at", "read/traversal/job_outputs_at"


class Uses:
    """What jobs used, by job and side, and the questions that were asked."""

    def __init__(self, returning: Sequence[str] = (), **used: list[str]) -> None:
        self._returning, self._used = returning, used
        self.asked: list[tuple[str, str]] = []

    def read(self, rows: list[Row]) -> list[Row] | None:
        self.asked += [(row["job"], row["side"]) for row in rows]
        return [
            {
                "job": row["job"],
                "succeededAt": 1,
                "used": [(one, 1) for one in self._used[name]],
                "returning": self._returning,
            }
            for row in rows
            if (name := f"{row['job']}_{row['side']}") in self._used
        ]


def row(job: str, dataset: str, **more: Any) -> Row:
    given = {"declared": None, "derived": [], "explicit": False, **more}
    return {"jobOrRun": job, "datasetOrVersion": dataset, **given}


def test_a_job_had_the_inputs_that_it_used_or_declared() -> None:
    uses = Uses(load_reads=["orders"])
    edges = PastEdges(uses.read)
    rows = [row("load", "orders"), row("load", "returns"), row("load", "said", declared=True)]
    found = edges.select(INPUTS, rows)
    assert [one["datasetOrVersion"] for one in found or ()] == ["orders", "said"]
    # Each job is asked about once.
    edges.select(INPUTS, rows)
    assert uses.asked == [("load", "reads")]


def test_a_job_had_the_inputs_to_which_it_comes_back() -> None:
    edges = PastEdges(Uses(load_reads=["orders"], returning=["returns"]).read)
    found = edges.select(INPUTS, [row("load", name) for name in ("orders", "returns", "old")])
    assert [one["datasetOrVersion"] for one in found or ()] == ["orders", "returns"]


def test_before_the_first_success_every_known_edge_was_current() -> None:
    edges = PastEdges(Uses().read)
    rows = [row("new", "orders"), row("new", "moved", declared=False)]
    assert [one["datasetOrVersion"] for one in edges.select(INPUTS, rows) or ()] == ["orders"]


def test_an_output_keeps_the_sources_that_were_inputs_then() -> None:
    uses = Uses(load_reads=["orders"], load_writes=["mart"])
    # urn, is an input now, was an input, was declared
    derived = [
        ("orders", True, True, False),
        ("returns", True, True, False),
        ("declared", True, True, True),
        ("never", True, False, False),
    ]
    found = PastEdges(uses.read).select(OUTPUTS, [row("load", "mart", derived=derived)])
    assert [one["derived"] for one in found or ()] == [["orders", "declared"]]


def test_a_run_without_named_origins_makes_the_output_come_from_all_inputs() -> None:
    uses = Uses(load_reads=["orders"], load_writes=["mart", "* mart"])
    derived = [("orders", True, True, False)]
    found = PastEdges(uses.read).select(OUTPUTS, [row("load", "mart", derived=derived)])
    assert [one["derived"] for one in found or ()] == [[]]


def test_other_queries_and_an_end_of_time() -> None:
    edges = PastEdges(lambda _: None)
    rows = [row("load", "orders")]
    assert edges.select("read/traversal/job_inputs", rows) is rows
    assert edges.select(INPUTS, rows) is None
