"""The contents of an evidence pack.

A pack holds the lineage of a node with its runs, versions, code, freshness, quality, contracts,
violations, findings and owners. All values are read from the current graph; ages are counted to
the instant `at`. Lists are sorted, so the same graph and instant give the same pack, byte for byte.
The pack names every bound that cut a list short.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import headwater
from headwater.cypher.driver.database import Row
from headwater.evidence.contracts import list_clauses
from headwater.evidence.digest import Data, to_json_value
from headwater.evidence.findings import list_findings
from headwater.evidence.violations import find_violations
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.history_pages import read_history_pages
from headwater.lineage.node_names import kind_of
from headwater.lineage.nodes import name_nodes, read_nodes, require_node
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions.freshness import Freshness, freshness
from headwater.lineage.questions.lineage import Lineage, lineage
from headwater.lineage.questions.quality import Quality, quality
from headwater.lineage.traversal.request import DEPTH_DEFAULT, LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn, parse_urn

FORMAT = "headwater-evidence/1"
# The urn stands beside the properties; the others are for Headwater's own reads.
_NOT_SHOWN = ("urn", "lineageRevision", "changedAt")
NODES_MAX = 400
EDGES_MAX = 4_000
TRAVERSAL_SECONDS_MAX = 30.0
# How many of the newest runs of a job and versions of a dataset a pack holds.
RECENT = 10

_RUN_KEYS = (
    "urn", "runId", "pipelineName", "namespace", "status", "startedAt", "finishedAt", "failedAt",
    "attempts", "error", "engine", "version", "triggeredBy", "testsPassed", "testsFailed",
    "failedTests",
)  # fmt: skip
_VERSION_KEYS = (
    "urn", "dataset", "runId", "createdAt", "capturedAt", "complete", "status", "rowCount", "bytes",
    "version", "schemaHash", "checksum", "origin", "drift",
)  # fmt: skip
_CODE_KEYS = ("codeVersion", "codeRepo", "codePath", "codeBranch", "codeUrl")


@dataclass(frozen=True)
class _Context:
    """The nodes around the subject, with their properties, by urn."""

    datasets: dict[str, Row]
    jobs: dict[str, Row]
    runs: dict[str, Row]
    versions: dict[str, Row]
    # The jobs with further runs, and the datasets with further versions.
    jobs_cut_short: list[str]
    datasets_cut_short: list[str]


def build_pack(view: GraphView, urn: str, *, at: datetime, depth: int = DEPTH_DEFAULT) -> Data:
    """Build the pack of one node. Raises NotFoundError and QueryError as `lineage` does."""
    subject = require_node(view, urn)
    urn = str(subject["urn"])
    lineages = {
        direction: lineage(
            view,
            LineageRequest(
                (urn,),
                direction=direction,
                depth=depth,
                nodes_max=NODES_MAX,
                edges_max=EDGES_MAX,
                timeout_seconds=TRAVERSAL_SECONDS_MAX,
                fresh=True,
            ),
        )
        for direction in ("UPSTREAM", "DOWNSTREAM")
    }
    context = _read_context(view, urn, lineages.values())
    name = name_nodes(view, [urn])[0]
    checked = sorted({*context.datasets, *_of_kind([urn], "artifact")})
    qualities = quality(view, checked)
    ages = freshness(view, sorted(context.datasets), seconds=TRAVERSAL_SECONDS_MAX)
    checks = _checks(qualities)
    pack = {
        "format": FORMAT,
        "headwater": headwater.__version__,
        "createdAt": at,
        "subject": {
            "urn": urn,
            "kind": kind_of(urn),
            "namespace": name.namespace,
            "name": name.name,
            "properties": {key: value for key, value in subject.items() if key not in _NOT_SHOWN},
        },
        "lineage": _lineage(urn, lineages, depth),
        "runs": {
            "perJob": RECENT,
            "items": [_run(row) for row in _newest_first(context.runs, "startedAt")],
            "truncatedFor": context.jobs_cut_short,
        },
        "codeVersions": _code_versions(context),
        "versions": {
            "perDataset": RECENT,
            "items": [
                _select(row, _VERSION_KEYS)
                for row in _newest_first(context.versions, "createdAt", "capturedAt")
            ],
            "truncatedFor": context.datasets_cut_short,
        },
        "quality": checks,
        "measures": _measures(qualities),
        "freshness": _freshness(ages, at),
        "contracts": list_clauses(view, _with_contracts(context), at),
        "violations": find_violations(context.runs.values(), context.versions.values(), checks),
        "findings": list_findings(view, urn, _upstream(lineages["UPSTREAM"])),
        "owners": _list_property(context, "owners"),
        "tags": _list_property(context, "tags"),
    }
    return dict(to_json_value(pack))


def _with_contracts(context: _Context) -> list[str]:
    """Return the datasets with a contract, so that the histories of no others are read."""
    return sorted(urn for urn, row in context.datasets.items() if row.get("contracts"))


def _upstream(result: Lineage) -> list[str]:
    return [node.urn for node in result.nodes if not node.urn.startswith(HIDDEN)]


def _read_context(view: GraphView, urn: str, lineages: Iterable[Lineage]) -> _Context:
    """Read the datasets, versions, jobs and runs to which the nodes of the lineages belong."""
    reached = {urn}
    for result in lineages:
        reached.update(node.urn for node in result.nodes)
    urns = sorted(reached)
    history = read_nodes(view, _of_kind(urns, "run", "artifact", "source"))
    datasets = set(_of_kind(urns, "dataset"))
    datasets.update(row["dataset"] for row in history.values() if row.get("dataset"))
    for column in _of_kind(urns, "column"):
        datasets.add(dataset_urn(*parse_urn(column).parts[:2]))
    jobs = set(_of_kind(urns, "job"))
    jobs.update(_job(row) for row in history.values() if row["urn"].startswith("run:"))
    if urn.startswith("column:"):
        jobs.update(_producers(view, sorted(datasets)))
    runs, jobs_cut_short = _recent(view, "read/nodes/job_runs", sorted(jobs))
    versions, datasets_cut_short = _recent(view, "read/nodes/dataset_versions", sorted(datasets))
    for key, row in history.items():
        (runs if key.startswith("run:") else versions)[key] = row
    return _Context(
        datasets=read_nodes(view, sorted(datasets)),
        jobs=read_nodes(view, sorted(jobs)),
        runs=runs,
        versions=versions,
        jobs_cut_short=jobs_cut_short,
        datasets_cut_short=datasets_cut_short,
    )


def _producers(view: GraphView, datasets: Iterable[str]) -> set[str]:
    """Return the jobs that produce the datasets."""
    jobs: set[str] = set()
    for dataset in datasets:
        if read_nodes(view, [dataset]):
            result = lineage(view, LineageRequest((dataset,), direction="UPSTREAM", depth=1))
            jobs.update(_of_kind([node.urn for node in result.nodes], "job"))
    return jobs


def _of_kind(urns: Iterable[str], *kinds: str) -> list[str]:
    return [urn for urn in urns if urn.partition(":")[0] in kinds]


def _job(run: Row) -> str:
    return job_urn(run["namespace"], run["pipelineName"])


def _recent(view: GraphView, query: str, urns: Sequence[str]) -> tuple[dict[str, Row], list[str]]:
    """Return the newest nodes on the pages of the given nodes, and the nodes with further pages."""
    pages = read_history_pages(view, query, urns, PageRequest(RECENT))
    entries: list[str] = []
    for page in pages.values():
        entries += page.entries
    rows = read_nodes(view, sorted(entries))
    return rows, sorted(urn for urn, page in pages.items() if page.has_next)


def _lineage(urn: str, lineages: Mapping[str, Lineage], depth: int) -> Data:
    nodes: dict[str, Data] = {}
    edges = set()
    for direction, result in lineages.items():
        edges.update(result.edges)
        for node in result.nodes:
            entry = nodes.setdefault(
                node.urn,
                {
                    "urn": node.urn,
                    "kind": node.kind,
                    "namespace": node.namespace,
                    "name": node.name,
                    "directions": [],
                },
            )
            if node.urn != urn:
                entry["directions"].append(direction)
    return {
        "bounds": {"depth": depth, "nodes": NODES_MAX, "edges": EDGES_MAX},
        "truncated": {direction: result.reason or None for direction, result in lineages.items()},
        "nodes": [nodes[key] for key in sorted(nodes)],
        "edges": [
            {"source": edge.source, "target": edge.target, "type": edge.type}
            for edge in sorted(edges)
        ],
    }


def _select(row: Row, keys: Sequence[str]) -> Data:
    return {key: row[key] for key in keys if key in row}


def _run(row: Row) -> Data:
    entry = {**_select(row, _RUN_KEYS), "job": _job(row)}
    started, ended = row.get("startedAt"), row.get("finishedAt")
    if started and ended:
        entry["durationMilliseconds"] = round((ended - started).total_seconds() * 1_000)
    return entry


def _newest_first(rows: Mapping[str, Row], *keys: str) -> list[Row]:
    """Sort rows by the first of the keys that each has, newest first, then by urn."""

    def time_text(row: Row) -> str:
        return str(next((row[key] for key in keys if key in row), ""))

    by_urn = sorted(rows.values(), key=lambda row: str(row["urn"]))
    return sorted(by_urn, key=time_text, reverse=True)


def _code_versions(context: _Context) -> list[Data]:
    """Return the code properties of each job and the code versions of its runs."""
    by_job: dict[str, dict[str, Any]] = {}
    for urn, row in sorted(context.jobs.items()):
        by_job[urn] = {"job": urn, **_select(row, _CODE_KEYS), "versions": []}
    for row in sorted(context.runs.values(), key=lambda row: str(row["urn"])):
        if row.get("version"):
            entry = by_job.setdefault(_job(row), {"job": _job(row), "versions": []})
            entry["versions"] = sorted({*entry["versions"], str(row["version"])})
    return [entry for entry in by_job.values() if len(entry) > 2 or entry["versions"]]


def _freshness(ages: Mapping[str, Freshness], instant: datetime) -> list[Data]:
    """Return the ages of each dataset and its oldest source, in whole seconds before an instant."""
    return [
        {
            "dataset": urn,
            "updatedAt": age.newest_at,
            "version": age.version,
            "effectiveAt": age.effective_at,
            "exact": age.exact,
            "oldestSource": age.sources[0].dataset if age.sources else None,
            "ageSeconds": _age_seconds(age.newest_at, instant),
            "effectiveAgeSeconds": _age_seconds(age.effective_at, instant),
            "truncated": age.reason or None,
        }
        for urn, age in sorted(ages.items())
    ]


def _age_seconds(time: datetime | None, instant: datetime) -> int | None:
    return None if time is None else int((instant - time).total_seconds())


def _checks(qualities: Mapping[str, Quality]) -> list[Data]:
    """Return the newest result of every check, by the checked node."""
    results: list[Data] = []
    for urn, node_quality in sorted(qualities.items()):
        results += [
            {"urn": urn, **_to_camel_case(asdict(check))} for check in node_quality.assertions
        ]
    return results


def _measures(qualities: Mapping[str, Quality]) -> list[Data]:
    """Return the newest measures of each node."""
    return [
        {"urn": urn, **_to_camel_case(asdict(node_quality.measures[0]))}
        for urn, node_quality in sorted(qualities.items())
        if node_quality.measures
    ]


def _to_camel_case(fields: Data) -> Data:
    """Convert the keys to camel case; the names of columns and quantiles are values here."""
    converted: Data = {}
    for key, value in fields.items():
        converted[re.sub("_([a-z])", lambda match: match[1].upper(), key)] = value
    if "columns" in converted:
        converted["columns"] = [_to_camel_case(column) for column in converted["columns"]]
    return converted


def _list_property(context: _Context, key: str) -> list[Data]:
    """Return a list property of the datasets and jobs that have it."""
    rows = {**context.datasets, **context.jobs}
    return [{"urn": urn, key: sorted(rows[urn][key])} for urn in sorted(rows) if rows[urn].get(key)]
