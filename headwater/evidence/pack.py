"""What an evidence pack says of a node: its lineage, runs, versions, code, freshness, quality, violations and owners.

Everything is read from the graph as it is; ages are counted to the instant the pack is made `at`. Lists are sorted, so
that the same graph and the same instant give the same pack, byte for byte. What a bound left out is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import headwater
from headwater.cypher.driver.database import Row
from headwater.evidence.digest import Data, plain
from headwater.evidence.violations import violations
from headwater.lineage.history_pages import newest
from headwater.lineage.node_names import kind_of
from headwater.lineage.nodes import name_nodes, read_nodes, require_node
from headwater.lineage.questions.freshness import Freshness, freshness
from headwater.lineage.questions.lineage import DEPTH_DEFAULT, Lineage, lineage
from headwater.lineage.questions.quality import Quality, quality
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn, parse_urn

FORMAT = "headwater-evidence/1"
NODES_MAX = 400
EDGES_MAX = 4_000
WALK_SECONDS_MAX = 30.0
RECENT = 10

_RUN = (
    *(
        "urn",
        "runId",
        "pipelineName",
        "namespace",
        "status",
        "startedAt",
        "finishedAt",
        "failedAt",
        "attempts",
    ),
    *("error", "engine", "version", "triggeredBy", "testsPassed", "testsFailed", "failedTests"),
)
_VERSION = (
    *(
        "urn",
        "dataset",
        "runId",
        "createdAt",
        "capturedAt",
        "complete",
        "status",
        "rowCount",
        "bytes",
    ),
    *("version", "schemaHash", "checksum", "origin", "drift"),
)
_CODE = ("codeVersion", "codeRepo", "codePath", "codeBranch", "codeUrl")


@dataclass(frozen=True)
class _Around:
    """The nodes that the pack tells more of: their properties, by urn."""

    datasets: dict[str, Row]
    jobs: dict[str, Row]
    runs: dict[str, Row]
    versions: dict[str, Row]
    more_runs: list[str]
    more_versions: list[str]


def gather(view: GraphView, urn: str, *, at: datetime, depth: int = DEPTH_DEFAULT) -> Data:
    """The pack of one node. Raises NotFoundError and QueryError as `lineage` does."""
    subject = require_node(view, urn)
    urn = str(subject["urn"])
    walked = {
        way: lineage(
            view,
            urn,
            direction=way,
            depth=depth,
            nodes_max=NODES_MAX,
            edges_max=EDGES_MAX,
            seconds=WALK_SECONDS_MAX,
            fresh=True,
        )
        for way in ("UPSTREAM", "DOWNSTREAM")
    }
    around = _around(view, urn, [node.urn for walk in walked.values() for node in walk.nodes])
    name = name_nodes(view, [urn])[0]
    judged = quality(view, sorted({*around.datasets, *_of_kind([urn], "artifact")}))
    checks = _checks(judged)
    pack = {
        "format": FORMAT,
        "headwater": headwater.__version__,
        "made": at,
        "subject": {
            "urn": urn,
            "kind": kind_of(urn),
            "namespace": name.namespace,
            "name": name.name,
            "properties": {key: value for key, value in subject.items() if key != "urn"},
        },
        "lineage": _lineage(urn, walked, depth),
        "runs": {
            "perJob": RECENT,
            "items": [_run(row) for row in _newest(around.runs, "startedAt")],
            "moreOf": around.more_runs,
        },
        "codeVersions": _code_versions(around),
        "versions": {
            "perDataset": RECENT,
            "items": [
                _only(row, _VERSION) for row in _newest(around.versions, "createdAt", "capturedAt")
            ],
            "moreOf": around.more_versions,
        },
        "quality": checks,
        "measures": _measures(judged),
        "freshness": _freshness(
            freshness(view, sorted(around.datasets), seconds=WALK_SECONDS_MAX), at
        ),
        "violations": violations(around.runs.values(), around.versions.values(), checks),
        "owners": _words(around, "owners"),
        "tags": _words(around, "tags"),
    }
    return dict(plain(pack))


def _around(view: GraphView, urn: str, walked: Iterable[str]) -> _Around:
    """What the nodes of the lineage lead to: datasets, their versions, jobs, their runs."""
    urns = sorted({urn, *walked})
    history = read_nodes(view, _of_kind(urns, "run", "artifact", "source"))
    datasets = {
        *_of_kind(urns, "dataset"),
        *(row["dataset"] for row in history.values() if row.get("dataset")),
    }
    datasets |= {
        dataset_urn(*parts[:2])
        for parts in (parse_urn(one).parts for one in _of_kind(urns, "column"))
    }
    jobs = {
        *_of_kind(urns, "job"),
        *(_job(row) for row in history.values() if row["urn"].startswith("run:")),
    }
    if urn.startswith("column:"):
        for one in sorted(datasets):
            makers = (
                lineage(view, one, direction="UPSTREAM", depth=1)
                if read_nodes(view, [one])
                else None
            )
            jobs |= set(_of_kind([node.urn for node in makers.nodes], "job")) if makers else set()
    runs, more_runs = _recent(view, "read/nodes/job_runs", sorted(jobs))
    versions, more_versions = _recent(view, "read/nodes/dataset_versions", sorted(datasets))
    runs |= {key: row for key, row in history.items() if key.startswith("run:")}
    versions |= {key: row for key, row in history.items() if not key.startswith("run:")}
    return _Around(
        read_nodes(view, sorted(datasets)),
        read_nodes(view, sorted(jobs)),
        runs,
        versions,
        more_runs,
        more_versions,
    )


def _of_kind(urns: Iterable[str], *kinds: str) -> list[str]:
    return [urn for urn in urns if urn.partition(":")[0] in kinds]


def _job(run: Row) -> str:
    return job_urn(run["namespace"], run["pipelineName"])


def _recent(view: GraphView, query: str, urns: Sequence[str]) -> tuple[dict[str, Row], list[str]]:
    """The newest of what hangs on these nodes, and those of them on which more hangs."""
    found = newest(view, query, urns, first=RECENT)
    wanted = [one for page in found.values() for one in page.entries]
    return read_nodes(view, sorted(wanted)), sorted(
        urn for urn, page in found.items() if page.has_next
    )


def _lineage(urn: str, walked: dict[str, Lineage], depth: int) -> Data:
    nodes: dict[str, Data] = {}
    for way, found in walked.items():
        for node in found.nodes:
            shown = {
                "urn": node.urn,
                "kind": node.kind,
                "namespace": node.namespace,
                "name": node.name,
            }
            kept = nodes.setdefault(node.urn, {**shown, "sides": []})
            kept["sides"] += [way] if node.urn != urn else []
    edges = sorted({edge for found in walked.values() for edge in found.edges})
    return {
        "bounds": {"depth": depth, "nodes": NODES_MAX, "edges": EDGES_MAX},
        "truncated": {way: found.reason or None for way, found in walked.items()},
        "nodes": [nodes[key] for key in sorted(nodes)],
        "edges": [
            {"source": edge.source, "target": edge.target, "type": edge.type} for edge in edges
        ],
    }


def _only(row: Row, keys: Sequence[str]) -> Data:
    return {key: row[key] for key in keys if key in row}


def _run(row: Row) -> Data:
    shown = {**_only(row, _RUN), "job": _job(row)}
    started, ended = row.get("startedAt"), row.get("finishedAt")
    if started and ended:
        shown["durationMilliseconds"] = round((ended - started).total_seconds() * 1_000)
    return shown


def _newest(rows: dict[str, Row], *keys: str) -> list[Row]:
    def when(row: Row) -> str:
        return str(next((row[key] for key in keys if key in row), ""))

    by_urn = sorted(rows.values(), key=lambda row: str(row["urn"]))
    return sorted(by_urn, key=when, reverse=True)


def _code_versions(around: _Around) -> list[Data]:
    """Which code ran: what the job says of its code, and the versions that its runs named."""
    said: dict[str, dict[str, Any]] = {}
    for urn, row in sorted(around.jobs.items()):
        said[urn] = {"job": urn, **_only(row, _CODE), "versions": []}
    for row in sorted(around.runs.values(), key=lambda row: str(row["urn"])):
        if row.get("version"):
            one = said.setdefault(_job(row), {"job": _job(row), "versions": []})
            one["versions"] = sorted({*one["versions"], str(row["version"])})
    return [one for one in said.values() if len(one) > 2 or one["versions"]]


def _freshness(found: dict[str, Freshness], at: datetime) -> list[Data]:
    """How old each dataset is, and how old the oldest source is whose data is in it; whole seconds before `at`."""
    return [
        {
            "dataset": urn,
            "updatedAt": one.at,
            "version": one.version,
            "effectiveAt": one.effective_at,
            "exact": one.exact,
            "oldestSource": one.sources[0].dataset if one.sources else None,
            "ageSeconds": _age(one.at, at),
            "effectiveAgeSeconds": _age(one.effective_at, at),
            "truncated": one.reason or None,
        }
        for urn, one in sorted(found.items())
    ]


def _age(when: datetime | None, at: datetime) -> int | None:
    return None if when is None else int((at - when).total_seconds())


def _checks(found: dict[str, Quality]) -> list[Data]:
    """The newest result of every check, by what was checked."""
    return [
        {"urn": urn, **vars(check)}
        for urn, one in sorted(found.items())
        for check in one.assertions
    ]


def _measures(found: dict[str, Quality]) -> list[Data]:
    """The newest measures of each."""
    newest = [(urn, one.measures[0]) for urn, one in sorted(found.items()) if one.measures]
    return [{"urn": urn, **_in_camel_case(asdict(measure))} for urn, measure in newest]


def _in_camel_case(fields: Data) -> Data:
    """Keys as everywhere else in the pack; the names of columns and quantiles are values here."""
    shown = {
        re.sub("_([a-z])", lambda match: match[1].upper(), key): value
        for key, value in fields.items()
    }
    return shown | (
        {"columns": [_in_camel_case(one) for one in shown["columns"]]} if "columns" in shown else {}
    )


def _words(around: _Around, key: str) -> list[Data]:
    rows = {**around.datasets, **around.jobs}
    return [{"urn": urn, key: sorted(rows[urn][key])} for urn in sorted(rows) if rows[urn].get(key)]
