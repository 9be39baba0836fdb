"""Results of dbt's nodes: their times, and what the events of their runs say about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from headwater.importers.dbt.artifacts import Node, NodeResult
from headwater.schema.events import parse_instant

SUCCEEDED, FAILED, SKIPPED = "COMPLETE", "FAIL", "ABORT"
STATUSES = {
    "success": SUCCEEDED,
    "pass": SUCCEEDED,
    "warn": SUCCEEDED,
    "error": FAILED,
    "runtime error": FAILED,
    "fail": FAILED,
    "partial success": FAILED,
    "skipped": SKIPPED,
}
# The status of what dbt lists and does not run, such as an exposure.
NO_RUN = "no-op"
# A message names this many nodes.
_NAMED_MAX = 10


def timing(result: NodeResult) -> tuple[int, int] | None:
    """Return the start and end of a node's execution, or else of what dbt did with it."""
    timings = [one for one in result.timing or () if one.started_at and one.completed_at]
    executed = [one for one in timings if one.name == "execute"] or timings
    spans = [
        (parse_instant(str(one.started_at)), parse_instant(str(one.completed_at)))
        for one in executed
    ]
    return (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None


def failure_message(results: Sequence[NodeResult]) -> str:
    """Return how many nodes failed, and the first of them."""
    failed = [one.unique_id for one in results if STATUSES.get(one.status) == FAILED]
    return f"{len(failed)} of {len(results)} failed: {', '.join(failed[:_NAMED_MAX])}"


def assertion(node: Node, result: NodeResult) -> dict[str, Any]:
    """Return the result of a test as an assertion, as dbt-ol builds it."""
    metadata = node.test_metadata
    arguments = (metadata.kwargs or {}) if metadata else {}
    column = arguments.get("column_name") or node.column_name
    severity = node.option("severity")
    fields = {
        "assertion": metadata.name if metadata else node.name,
        "name": node.name,
        "success": result.status == "pass",
        "column": column if isinstance(column, str) else None,
        "severity": str(severity).lower() if severity else None,
        "actual": str(result.failures) if result.failures is not None else None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def statistics(result: NodeResult) -> dict[str, int] | None:
    """Return the rows and bytes that a node wrote, as far as the adapter counts them."""
    response = result.adapter_response or {}
    names = {"rowCount": "rows_affected", "size": "bytes_processed"}
    found = {key: response.get(name) for key, name in names.items()}
    return {key: value for key, value in found.items() if isinstance(value, int) and value > 0}


def query_id(result: NodeResult) -> str | None:
    """Return the id of the query in the database, if the adapter names it."""
    response = result.adapter_response or {}
    found = response.get("query_id") or response.get("job_id")
    return found if isinstance(found, str) and found.lower() != "n/a" else None


class SkippedNodes:
    """The nodes of an invocation that dbt skipped, and the failures that made it skip them."""

    def __init__(self, nodes: Mapping[str, Node], results: Sequence[NodeResult]) -> None:
        self._nodes = nodes
        self._bad = {
            one.unique_id for one in results if STATUSES.get(one.status) in (FAILED, SKIPPED)
        }

    def message(self, node: Node) -> str:
        """Return why dbt skipped a node: the nodes before it that failed or were skipped."""
        causes = [parent for parent in node.parents if parent in self._bad]
        tests = set().union(*(self._bad_tests.get(parent, ()) for parent in node.parents))
        named = ", ".join([*causes, *sorted(tests)][:_NAMED_MAX])
        return f"skipped because of {named}" if named else "skipped"

    @cached_property
    def _bad_tests(self) -> dict[str, set[str]]:
        """Return the tests that failed or were skipped, by the nodes that they are about."""
        found: dict[str, set[str]] = defaultdict(set)
        for unique_id in self._bad & self._nodes.keys():
            node = self._nodes[unique_id]
            for parent in node.parents if node.resource_type == "test" else ():
                found[parent].add(unique_id)
        return found
