"""dbt's artifacts as OpenLineage events.

- Each model, seed and snapshot is a job that declares what it reads and writes. Its results are
  runs of this job, in the run of their invocation.
- Tests are runs that read the tested table, with `dataQualityAssertions`.
- Exposures are answers.
- Sources, and what is known about their freshness, are described.

Jobs have the names that `dbt-ol run`, `test` and `snapshot` give them, whichever command ran: one
model is one job. Ids and times come from the artifacts alone, so importing twice changes nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.code_analysis.sql.parse import dialect_of
from headwater.importers.dbt.artifacts import (
    MANIFEST,
    RUN_RESULTS,
    Artifacts,
    Invocation,
    Node,
    NodeResult,
)
from headwater.importers.dbt.project import BUILT, Project, TableLineage
from headwater.importers.dbt.results import (
    FAILED,
    NO_RUN,
    SKIPPED,
    STATUSES,
    SUCCEEDED,
    SkippedNodes,
    assertion,
    failure_message,
    query_id,
    statistics,
    timing,
)
from headwater.importers.events import (
    DatasetName,
    column_lineage,
    dataset,
    dataset_event,
    facets,
    job_event,
    run_event,
    stable_run_id,
    to_time,
)
from headwater.importers.report import ImportReport
from headwater.schema.events import parse_instant
from headwater.schema.headwater_facets import Event, answer_event

_MICROSECONDS = 1_000_000
_JOB_TYPES = {"model": "MODEL", "seed": "SEED", "snapshot": "SNAPSHOT"}
_UNSHOWN_META = ("owner", "lineage")


@dataclass(frozen=True)
class DbtOptions:
    """The namespaces of an import: of the datasets, and of the jobs as dbt-ol has it."""

    namespace: str
    job_namespace: str = "dbt"


def read_dbt(artifacts: Artifacts, options: DbtOptions, report: ImportReport) -> Iterator[Event]:
    """Yield the events of dbt's artifacts. `report` is complete at the end."""
    importer = _DbtImporter(artifacts, options, report)
    yield from importer.declarations()
    yield from importer.runs()
    yield from importer.freshness()
    yield from importer.answers()


class _DbtImporter:
    def __init__(self, artifacts: Artifacts, options: DbtOptions, report: ImportReport) -> None:
        self._artifacts = artifacts
        self._options = options
        self._report = report
        self._project = Project(artifacts, options.namespace, report)
        self._dialect = dialect_of(artifacts.adapter)
        invocation = artifacts.invocation
        self._invocation = invocation if invocation and invocation.has_runs else None
        results = self._invocation.results if self._invocation else []
        self._skipped = SkippedNodes(artifacts.nodes, results)

    def declarations(self) -> Iterator[Event]:
        """Yield what the manifest declares: jobs with their inputs and outputs, and sources."""
        time = self._artifacts.generated_at
        for unique_id, lineage in self._project.lineage.items():
            node = self._artifacts.nodes[unique_id]
            self._report.counts[f"{node.resource_type}s"] += 1
            yield job_event(
                time,
                self._job(node, _JOB_TYPES[node.resource_type]),
                [dataset(name) for name in sorted(lineage.inputs)],
                [dataset(self._project.dataset(unique_id), self._table_facets(node, lineage))],
            )
        for node in self._artifacts.nodes.values():
            if node.resource_type == "source":
                self._report.counts["sources"] += 1
                named = self._project.dataset(node.unique_id)
                yield dataset_event(time, dataset(named, self._table_facets(node, None)))
        for target, lineage in self._project.declared_elsewhere.items():
            yield self._declared_elsewhere(target, lineage)

    def _declared_elsewhere(self, target: DatasetName, lineage: TableLineage) -> Event:
        """Return what `meta.lineage` declares about a dataset that dbt does not build."""
        self._report.counts["datasets declared in meta.lineage"] += 1
        kind = {"processingType": "BATCH", "integration": "DBT", "jobType": "DECLARATION"}
        job = {
            "namespace": self._options.job_namespace,
            "name": f"{self._artifacts.project}.meta.lineage.{target[1]}",
            "facets": facets(jobType=kind),
        }
        own = facets(columnLineage=column_lineage(lineage.direct, lineage.indirect))
        inputs = [dataset(name) for name in sorted(lineage.inputs)]
        return job_event(self._artifacts.generated_at, job, inputs, [dataset(target, own)])

    def runs(self) -> Iterator[Event]:
        """Yield the runs of an invocation: its own, and those of models and tests."""
        invocation = self._artifacts.invocation
        if invocation is None:
            return
        if self._invocation is None:
            command = invocation.command or "another command"
            self._report.notes.append(
                f"{RUN_RESULTS} is of `dbt {command}`, which builds nothing: there are no runs to "
                "import. To import runs, import before that command."
            )
            return
        start, end = self._invocation_times(invocation)
        statuses = [STATUSES.get(result.status) for result in invocation.results]
        ended = FAILED if FAILED in statuses else SUCCEEDED
        job = self._invocation_job()
        yield run_event("START", start, invocation.id, job, run_facets=self._run_facets())
        for result in invocation.results:
            yield from self._built(result)
        yield from self._tests(invocation)
        message = failure_message(invocation.results) if ended == FAILED else None
        own = self._run_facets(message=message)
        yield run_event(ended, end, invocation.id, job, run_facets=own)

    def _built(self, result: NodeResult) -> Iterator[Event]:
        """Yield the run of a model, seed or snapshot."""
        node = self._artifacts.nodes.get(result.unique_id)
        if node is None:
            self._report.add_problem(
                f"{RUN_RESULTS}: {result.unique_id}", f"{MANIFEST} has no such node"
            )
            return
        ended = STATUSES.get(result.status)
        if ended is None and result.status != NO_RUN:
            problem = f"its status {result.status[:80]!r} is not known"
            self._report.add_problem(f"{RUN_RESULTS}: {result.unique_id}", problem)
        lineage = self._project.lineage.get(result.unique_id)
        if node.resource_type not in BUILT or lineage is None or ended is None:
            return
        self._report.counts["runs"] += 1
        job = self._job(node, _JOB_TYPES[node.resource_type])
        inputs = [dataset(name) for name in sorted(lineage.inputs)]
        name = self._project.dataset(node.unique_id)
        output = dataset(
            name,
            self._table_facets(node, lineage),
            outputFacets=facets(outputStatistics=statistics(result)),
        )
        start, end = self._times(result)
        run_id = self._run_id(result.unique_id)
        started = self._run_facets(is_child=True)
        yield run_event(
            "START", start, run_id, job, run_facets=started, inputs=inputs, outputs=[output]
        )
        message = result.message if ended == FAILED else None
        if ended == SKIPPED:
            message = self._skipped.message(node)
        own = self._run_facets(is_child=True, message=message, query_id=query_id(result))
        # As dbt-ol sends it: what failed or was skipped wrote nothing.
        outputs = [output] if ended == SUCCEEDED else []
        yield run_event(ended, end, run_id, job, run_facets=own, inputs=inputs, outputs=outputs)

    def _tests(self, invocation: Invocation) -> Iterator[Event]:
        """Yield the runs of tests: one for each table with generic tests, one a singular test."""
        by_table: dict[str, list[tuple[Node, NodeResult]]] = defaultdict(list)
        for result in invocation.results:
            node = self._artifacts.nodes.get(result.unique_id)
            if node is None or node.resource_type != "test" or result.status not in STATUSES:
                continue
            self._report.counts["tests"] += 1
            tables = self._project.tables_behind(node.unique_id)
            if node.attached_node in tables:
                tables = [str(node.attached_node)]
            if node.test_metadata is not None and tables:
                # As dbt-ol does: of several tables, the last one is tested.
                by_table[tables[-1]].append((node, result))
            else:
                job = self._job(node, "TEST", name=node.unique_id)
                yield from self._test_run(node.unique_id, job, tables, [(node, result)])
        for unique_id, tests in by_table.items():
            table = self._artifacts.nodes[unique_id]
            job = self._job(table, "TEST", name=f"{self._job_name(table)}.test")
            yield from self._test_run(f"test of {unique_id}", job, [unique_id], tests)

    def _test_run(
        self, key: str, job: Event, tables: list[str], tests: list[tuple[Node, NodeResult]]
    ) -> Iterator[Event]:
        ran = [(node, result) for node, result in tests if result.status != "skipped"]
        checks = facets(
            dataQualityAssertions={"assertions": [assertion(*test) for test in ran] or None}
        )
        inputs = [
            dataset(self._project.dataset(unique_id), inputFacets=checks) for unique_id in tables
        ]
        statuses = [STATUSES[result.status] for _, result in tests]
        ended = FAILED if FAILED in statuses else SUCCEEDED
        if not ran:
            ended = SKIPPED
        messages = [
            f"{node.name}: {result.message or result.status}"
            for node, result in ran
            if STATUSES[result.status] == FAILED
        ]
        times = [self._times(result) for _, result in tests]
        start, end = min(time[0] for time in times), max(time[1] for time in times)
        run_id = self._run_id(key)
        started = self._run_facets(is_child=True)
        yield run_event("START", start, run_id, job, run_facets=started, inputs=inputs)
        message = "; ".join(messages) or ("skipped" if ended == SKIPPED else None)
        own = self._run_facets(is_child=True, message=message)
        yield run_event(ended, end, run_id, job, run_facets=own, inputs=inputs)

    def freshness(self) -> Iterator[Event]:
        """Yield when sources were last loaded."""
        for found in self._artifacts.freshness:
            if not self._project.is_table(found.unique_id) or not found.snapshotted_at:
                continue
            self._report.counts["freshness checks"] += 1
            own = facets(dataQualityMetrics={"lastUpdated": found.max_loaded_at})
            named = dataset(self._project.dataset(found.unique_id), own)
            yield dataset_event(found.snapshotted_at, named)

    def answers(self) -> Iterator[Event]:
        """Yield the exposures as answers that cite the tables they depend on."""
        known = self._invocation or self._artifacts
        for node in self._artifacts.nodes.values():
            if node.resource_type != "exposure":
                continue
            self._report.counts["exposures"] += 1
            tables = self._project.tables_behind(node.unique_id)
            cites = [
                {"namespace": namespace, "name": name}
                for namespace, name in map(self._project.dataset, tables)
            ]
            owners = _owner_names(node.owner)
            yield answer_event(
                node.unique_id,
                cites=cites,
                type=node.type,
                content=node.description or node.label or node.name,
                url=node.url,
                owners=owners or None,
                generated_at=known.generated_at,
                generated_by=", ".join(owners) or None,
            )

    def _job(self, node: Node, kind: str, *, name: str = "") -> Event:
        # A job of a test is about the test, not about the text and the owners of the table.
        is_test = kind == "TEST"
        about = facets(
            jobType={"processingType": "BATCH", "integration": "DBT", "jobType": kind},
            dbt_node={
                "original_file_path": node.original_file_path,
                "database": node.database,
                "schema": node.schema,
                "alias": node.alias,
                "unique_id": node.unique_id,
            },
        )
        if not is_test or name == node.unique_id:
            sql = {"query": node.sql, "dialect": self._artifacts.adapter or None}
            about |= facets(
                sql=sql if node.sql else None,
                documentation={"description": node.description or None},
                ownership=self._ownership(node),
            )
        name = name or self._job_name(node)
        return {"namespace": self._options.job_namespace, "name": name, "facets": about}

    def _job_name(self, node: Node) -> str:
        """Return the name of a job as dbt-ol builds it."""
        kind, _, rest = node.unique_id.partition(".")
        is_model = kind == "model"
        own = rest if kind in BUILT else node.unique_id
        parts = (node.database, node.schema, own)
        name = ".".join(part for part in parts if part)
        return name if is_model or kind not in BUILT else f"{name}.{kind}"

    def _invocation_job(self) -> Event:
        kind = {"processingType": "BATCH", "integration": "DBT", "jobType": "JOB"}
        return {**self._invocation_name(), "facets": facets(jobType=kind)}

    def _invocation_name(self) -> dict[str, str]:
        name = f"dbt-run-{self._artifacts.project}"
        return {"namespace": self._options.job_namespace, "name": name}

    def _run_facets(
        self, *, is_child: bool = False, message: str | None = None, query_id: str | None = None
    ) -> dict[str, Any]:
        invocation = self._invocation
        assert invocation is not None
        parent: dict[str, Any] | None = None
        if is_child:
            run, job = {"runId": invocation.id}, self._invocation_name()
            parent = {"run": run, "job": job, "root": {"run": run, "job": job}}
        engine = {"name": "dbt", "version": invocation.dbt_version or "unknown"}
        return facets(
            parent=parent,
            processing_engine=engine,
            dbt_run={"invocation_id": invocation.id, "project_name": self._artifacts.project},
            errorMessage={"message": message, "programmingLanguage": "SQL"} if message else None,
            externalQuery={"externalQueryId": query_id, "source": self._options.namespace}
            if query_id
            else None,
        )

    def _run_id(self, key: str) -> str:
        assert self._invocation is not None
        return stable_run_id("dbt", self._invocation.id, key)

    def _table_facets(self, node: Node, lineage: TableLineage | None) -> dict[str, Any]:
        """Return the facets of a table; `lineage` is that of a built one."""
        columns = {column.name.casefold(): column for column in (node.columns or {}).values()}
        fields = []
        for name, type in self._project.columns_of(node.unique_id):
            column = columns.get(name.casefold())
            description = column.description if column else None
            entry = {"name": name, "type": type or None, "description": description or None}
            fields.append({key: value for key, value in entry.items() if value})
        symlink = self._project.symlink(node)
        identifiers = symlink and [{"namespace": symlink[0], "name": symlink[1], "type": "TABLE"}]
        sources = column_lineage(lineage.direct, lineage.indirect) if lineage else None
        return facets(
            dataSource={"name": self._options.namespace, "uri": self._options.namespace},
            documentation={"description": node.description or None},
            schema={"fields": fields or None},
            ownership=self._ownership(node),
            tags={"tags": list(_tags(node)) or None},
            dbt_model=self._model_facet(node),
            symlinks={"identifiers": identifiers or None},
            columnLineage=sources,
        )

    def _model_facet(self, node: Node) -> dict[str, Any] | None:
        if node.resource_type not in BUILT:
            return None
        is_full = self._invocation is not None and self._invocation.arguments.get("full_refresh")
        names = ("materialized", "access", "group", "incremental_strategy", "unique_key")
        config = {name: node.option(name) for name in names if node.option(name)}
        config.setdefault("materialized", node.resource_type)
        if is_full or node.option("full_refresh") is True:
            config["full_refresh"] = True
        return {"config": config}

    def _ownership(self, node: Node) -> dict[str, Any] | None:
        """Return the owners that `meta.owner` names, or else those of the node's group."""
        names = owners_of(self._artifacts, node)
        return {"owners": [{"name": name} for name in names]} if names else None

    def _invocation_times(self, invocation: Invocation) -> tuple[str, str]:
        """Return the start and the end of an invocation; older versions of dbt name one time."""
        end = parse_instant(invocation.generated_at)
        elapsed = round(invocation.elapsed_seconds * _MICROSECONDS)
        starts = [time[0] for time in map(timing, invocation.results) if time]
        if invocation.started_at:
            starts.append(parse_instant(invocation.started_at))
        return to_time(min([end - elapsed, *starts])), to_time(end)

    def _times(self, result: NodeResult) -> tuple[str, str]:
        """Return when a node was built. A node that dbt did not begin has the time of the end."""
        assert self._invocation is not None
        found = timing(result)
        if found is None:
            end = to_time(parse_instant(self._invocation.generated_at))
            return end, end
        return to_time(found[0]), to_time(found[1])


def _tags(node: Node) -> Iterator[dict[str, str]]:
    """Yield the tags of a table and its columns: dbt's tags, and simple values of `meta`."""
    yield from _own_tags(node.tags, node.all_meta, {})
    for column in (node.columns or {}).values():
        configured = column.config or {}
        meta = configured.get("meta")
        all_meta = {**(meta if isinstance(meta, dict) else {}), **(column.meta or {})}
        tags = column.tags or configured.get("tags")
        yield from _own_tags(tags, all_meta, {"field": column.name})


def _own_tags(
    tags: Any, meta: Mapping[str, Any], place: dict[str, str]
) -> Iterator[dict[str, str]]:
    listed = [tags] if isinstance(tags, str) else tags
    for tag in dict.fromkeys(map(str, listed if isinstance(listed, list) else ())):
        yield {"key": tag, "value": "true", "source": "DBT", **place}
    for key, value in meta.items():
        if key not in _UNSHOWN_META and isinstance(value, str | bool | int | float):
            text = value if isinstance(value, str) else json.dumps(value)
            yield {"key": str(key), "value": text, "source": "DBT_META", **place}


def owners_of(artifacts: Artifacts, node: Node) -> list[str]:
    """Return the owners that `meta.owner` names, or else those of the node's group."""
    owner = node.all_meta.get("owner")
    names = [str(one) for one in (owner if isinstance(owner, list) else [owner]) if one]
    group = node.group or node.option("group")
    if not names and isinstance(group, str):
        names = _owner_names(artifacts.groups.get(group)) or [group]
    return names


def _owner_names(owner: Any) -> list[str]:
    """Return the names of the owner of an exposure or a group: its name, or else its address."""
    if owner is None:
        return []
    if owner.name:
        return [owner.name]
    return [owner.email] if isinstance(owner.email, str) else list(owner.email or ())
