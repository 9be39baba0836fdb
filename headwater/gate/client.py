"""What the gate asks a Headwater: which dataset a name is, what is known of it, and what changes would affect.

Whatever goes wrong on the way, a dead server, a proxy that answers HTML, a missing key, is a HeadwaterError: then the
change cannot be assessed, and the gate blocks.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from typing import Any

from headwater.client import Headwater
from headwater.errors import QueryError, UnavailableError
from headwater.gate.resolve_datasets import DatasetChange, DatasetInfo, SearchHit
from headwater.gate.verdict import Affected
from headwater.schema.urns import parse_urn

SEARCHED_MAX = 100
PAGES_MAX = 10
TIMEOUT_SECONDS = 60.0

_SEARCH = """query ($text: String!, $first: Int!, $after: String) {
  search(text: $text, kind: DATASET, first: $first, after: $after) {
    edges { node { urn namespace name } } pageInfo { hasNextPage endCursor } truncated } }"""
_KNOWN = """query ($urn: ID!) {
  dataset(urn: $urn) { columns tags }
  lineage(urn: $urn, direction: UPSTREAM, depth: 1) { nodes { urn kind } edges { source target } } }"""
_IMPACT = """query ($changes: [ChangeInput!]!) { impact(changes: $changes) {
  affected {
    urn kind name severity references certified owners outputs evidence { kind path file line text unknown } }
  hiddenAffected truncatedBy } }"""


class GateClient:
    """A Headwater at `url`, asked with the key in the environment, if there is one."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = Headwater(url, timeout_seconds=TIMEOUT_SECONDS)

    def datasets(self, text: str) -> tuple[list[SearchHit], bool]:
        """Datasets in whose name the words of a text occur, and whether there are more than are told."""
        named: list[SearchHit] = []
        after = None
        for _ in range(PAGES_MAX):
            found = self._ask(_SEARCH, {"text": text, "first": SEARCHED_MAX, "after": after})[
                "search"
            ]
            nodes = [edge["node"] for edge in found["edges"]]
            named += [SearchHit(node["urn"], node["namespace"], node["name"]) for node in nodes]
            after = found["pageInfo"]["endCursor"]
            if not found["pageInfo"]["hasNextPage"]:
                return named, found["truncated"]
        return named, True

    def known(self, urn: str) -> DatasetInfo:
        """The columns and tags of a dataset and the jobs that make it. Raises NotFoundError when it is not there."""
        found = self._ask(_KNOWN, {"urn": urn})
        dataset, lineage = found["dataset"] or {}, found["lineage"]
        into = {edge["source"] for edge in lineage["edges"] if edge["target"] == urn}
        makers = [
            node["urn"]
            for node in lineage["nodes"]
            if node["kind"] == "JOB" and node["urn"] in into
        ]
        return DatasetInfo(
            tuple(dataset.get("columns", ())), tuple(dataset.get("tags", ())), tuple(makers)
        )

    def impact(self, asked: DatasetChange) -> tuple[tuple[Affected, ...], list[str]]:
        """What one change would affect, and what of that cannot be told."""
        found = self._ask(_IMPACT, {"changes": [asked.change]})["impact"]
        untold = []
        if found["truncatedBy"]:
            untold.append(
                f"there is more downstream than was walked: a bound on {found['truncatedBy']} was met"
            )
        if found["hiddenAffected"]:
            untold.append("something is affected that the gate's key may not see")
        return tuple(_affected(one) for one in found["affected"]), untold

    def _ask(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._client.ask(query, variables)
        except (ValueError, KeyError, TypeError, http.client.HTTPException) as error:
            message = (
                f"{self.url} does not answer as a Headwater does: {type(error).__name__} {error}"
            )
            raise UnavailableError(
                message, hint="Does --url name the API, and nothing in between?"
            ) from error


def _affected(one: Mapping[str, Any]) -> Affected:
    return Affected(
        urn=one["urn"] or one["name"],
        kind=one["kind"],
        name=one["name"],
        severity=one["severity"].lower(),
        references=tuple(one["references"]),
        evidence=tuple(_evidence(found) for found in one["evidence"]),
        is_certified=one["certified"],
        owners=tuple(one["owners"]),
        outputs=tuple(one["outputs"]),
    )


def _spelled(urn: str) -> str:
    """The name in a urn, without its namespace."""
    try:
        return ".".join(parse_urn(urn).parts[1:]) or urn
    except QueryError:
        return urn


def _evidence(found: Mapping[str, Any]) -> str:
    """What shows it, in one line."""
    if found["kind"] == "SQL_LINE":
        where = f"{found['file'] or 'its SQL'} line {found['line']}"
        return f"{where}: {found['text']}"
    way = " → ".join(_spelled(urn) for urn in found["path"])
    return f"{way} ({'; '.join(found['unknown'])})" if found["unknown"] else way
