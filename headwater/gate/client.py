"""The gate's questions to a Headwater API: datasets by name, and the impact of changes.

Every failure, such as a dead server, a proxy that returns HTML or a missing key, is a
HeadwaterError. The change cannot be assessed then, and the gate blocks.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from typing import Any

from headwater.client import Headwater
from headwater.client.backend import read_document
from headwater.errors import QueryError, UnavailableError
from headwater.gate.policies import PolicyBreach, ProposedAction
from headwater.gate.resolve_datasets import DatasetChange, DatasetInfo, GateApproval, SearchHit
from headwater.gate.verdict import Affected
from headwater.governance.policies.files import PolicyFile
from headwater.schema.urns import parse_urn

PAGE_SIZE = 100
PAGES_MAX = 10
_POLICIES_MAX = 1_000
TIMEOUT_SECONDS = 60.0

_SEARCH = """query ($text: String!, $first: Int!, $after: String) {
  search(text: $text, kind: DATASET, first: $first, after: $after) {
    edges { node { urn namespace name } } pageInfo { hasNextPage endCursor } truncated } }"""
_DATASET = """query ($urn: ID!) {
  dataset(urn: $urn) { columns tags approvals { policy reason by at until active } }
  lineage(urn: $urn, direction: UPSTREAM, depth: 1) { nodes { urn kind } edges { source target } }
}"""
_IMPACT = """query ($changes: [ChangeInput!]!) { impact(changes: $changes) {
  affected {
    urn kind name severity references certified owners outputs
    evidence { kind path file line text unknown } }
  hiddenAffected truncatedBy } }"""


class GateClient:
    """A Headwater at `url`, with a key or that of the environment, if there is one."""

    def __init__(self, url: str, *, api_key: str | None = None) -> None:
        self.url = url
        self._client = Headwater(url, api_key=api_key, timeout_seconds=TIMEOUT_SECONDS)

    def search_datasets(self, text: str) -> tuple[list[SearchHit], bool]:
        """Return the datasets whose names have the words of a text, and whether there are more."""
        hits: list[SearchHit] = []
        after = None
        for _ in range(PAGES_MAX):
            variables = {"text": text, "first": PAGE_SIZE, "after": after}
            page = self._query(_SEARCH, variables)["search"]
            nodes = [edge["node"] for edge in page["edges"]]
            hits += [SearchHit(node["urn"], node["namespace"], node["name"]) for node in nodes]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return hits, page["truncated"]
        return hits, True

    def dataset_info(self, urn: str) -> DatasetInfo:
        """Return the columns, tags, producers and approvals of a dataset.

        Raises NotFoundError if it is not there."""
        result = self._query(_DATASET, {"urn": urn})
        dataset, lineage = result["dataset"] or {}, result["lineage"]
        sources = {edge["source"] for edge in lineage["edges"] if edge["target"] == urn}
        jobs = [node["urn"] for node in lineage["nodes"] if node["kind"] == "JOB"]
        return DatasetInfo(
            tuple(dataset.get("columns", ())),
            tuple(dataset.get("tags", ())),
            tuple(job for job in jobs if job in sources),
            tuple(_parse_approval(one) for one in dataset.get("approvals", ()) if one["active"]),
        )

    def impact(self, change: DatasetChange) -> tuple[tuple[Affected, ...], list[str]]:
        """Return the affected assets of one change, and the reasons why there may be more."""
        result = self._query(_IMPACT, {"changes": [change.change]})["impact"]
        gaps = []
        if result["truncatedBy"]:
            bound = result["truncatedBy"]
            gaps.append(
                f"the traversal ended early at the bound on {bound}; there is more downstream"
            )
        if result["hiddenAffected"]:
            gaps.append("an asset is affected that the key of the gate may not see")
        return tuple(_parse_affected(asset) for asset in result["affected"]), gaps

    def breaches(
        self, files: tuple[PolicyFile, ...], action: ProposedAction
    ) -> tuple[PolicyBreach, ...]:
        """Return the policies of these files that an action violates, or that are unknown.

        Raises QueryError if a file is wrong, or if the key may not see the node.
        """
        variables = {
            "files": [{"path": file.path, "text": file.text} for file in files],
            "nodes": [action.urn],
            "change": {"action": action.action, "columns": list(action.columns)},
            "first": _POLICIES_MAX,
        }
        found: list[PolicyBreach] = []
        after = None
        for _ in range(PAGES_MAX):
            answer = self._query(read_document("policy_check"), {**variables, "after": after})
            page = answer["policyCheck"]
            if page["missing"]:
                raise QueryError(f"the key of the gate sees no node {action.urn}")
            found += [_parse_breach(edge["node"], action) for edge in page["edges"]]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return tuple(found)
        raise QueryError(f"more than {len(found)} policies are violated by {action.urn}")

    def _query(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._client.ask(query, variables)
        except (ValueError, KeyError, TypeError, http.client.HTTPException) as error:
            problem = f"{type(error).__name__} {error}"
            raise UnavailableError(
                f"{self.url} does not answer as a Headwater does: {problem}",
                hint="Check that --url names the API itself, without a proxy that answers HTML.",
            ) from error


def _parse_approval(approval: Mapping[str, Any]) -> GateApproval:
    return GateApproval(
        approval["policy"],
        approval["reason"],
        approval["by"] or "",
        approval["at"] or "",
        approval["until"] or "",
    )


def _parse_breach(violation: Mapping[str, Any], action: ProposedAction) -> PolicyBreach:
    source = action.change.source
    return PolicyBreach(
        policy=violation["policy"],
        urn=violation["urn"],
        severity=violation["severity"],
        enforce=violation["enforce"],
        message=violation["message"],
        unknown=violation["unknown"] or "",
        owners=tuple(violation["owners"]),
        file=source.file,
        line=source.line,
    )


def _parse_affected(asset: Mapping[str, Any]) -> Affected:
    return Affected(
        urn=asset["urn"] or asset["name"],
        kind=asset["kind"],
        name=asset["name"],
        severity=asset["severity"].lower(),
        references=tuple(asset["references"]),
        evidence=tuple(_render_evidence(evidence) for evidence in asset["evidence"]),
        is_certified=asset["certified"],
        owners=tuple(asset["owners"]),
        outputs=tuple(asset["outputs"]),
    )


def _render_evidence(evidence: Mapping[str, Any]) -> str:
    """Return an evidence on one line."""
    if evidence["kind"] == "SQL_LINE":
        position = f"{evidence['file'] or 'its SQL'} line {evidence['line']}"
        return f"{position}: {evidence['text']}"
    path = " → ".join(_short_name(urn) for urn in evidence["path"])
    unknown = "; ".join(evidence["unknown"] or ())
    return f"{path} ({unknown})" if unknown else path


def _short_name(urn: str) -> str:
    """Return the name in a urn, without its namespace."""
    try:
        return ".".join(parse_urn(urn).parts[1:]) or urn
    except QueryError:
        return urn
