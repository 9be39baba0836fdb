"""dbt's artifacts: `manifest.json`, `run_results.json`, `catalog.json` and `sources.json`.

Only the fields that lineage needs are read, of every version of the artifacts since dbt 1.0. A node
of an unexpected form is a problem of the report; it stops no other. So is a file beside the
manifest that is cut or of another form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from headwater.code_analysis.dbt.manifest import check_file
from headwater.errors import EventError, QueryError
from headwater.importers.report import ImportReport
from headwater.schema.events import parse_instant_or_none
from headwater.schema.stored_json import decode, no_number

FILE_BYTES_MAX = 2_000_000_000
MANIFEST, RUN_RESULTS, CATALOG, SOURCES = (
    "manifest.json",
    "run_results.json",
    "catalog.json",
    "sources.json",
)
# The longest duration of an invocation that is taken for one.
ELAPSED_SECONDS_MAX = 366 * 86_400
# The commands whose results are runs. Others, such as `dbt docs generate`, build nothing.
RUN_COMMANDS = ("run", "build", "test", "seed", "snapshot", "retry")
# The sections of a manifest with nodes that depend on others, or have results.
_SECTIONS = (
    "nodes",
    "sources",
    "exposures",
    "metrics",
    "semantic_models",
    "saved_queries",
    "unit_tests",
    "functions",
)


class Column(msgspec.Struct):
    """A documented column."""

    name: str
    description: str | None = None
    data_type: str | None = None
    meta: dict[str, Any] | None = None
    tags: list[str] | str | None = None
    config: dict[str, Any] | None = None


class DependsOn(msgspec.Struct):
    nodes: list[str] | None = None


class TestMetadata(msgspec.Struct):
    name: str
    kwargs: dict[str, Any] | None = None


class Owner(msgspec.Struct):
    name: str | None = None
    email: str | list[str] | None = None


class Node(msgspec.Struct):
    """A node, source, exposure or metric of the manifest."""

    unique_id: str
    name: str
    resource_type: str = ""
    database: str | None = None
    schema: str | None = None
    alias: str | None = None
    identifier: str | None = None
    original_file_path: str | None = None
    description: str | None = None
    columns: dict[str, Column] | None = None
    meta: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    tags: list[str] | str | None = None
    group: str | None = None
    depends_on: DependsOn | None = None
    language: str | None = None
    compiled_code: str | None = None
    compiled_sql: str | None = None
    raw_code: str | None = None
    raw_sql: str | None = None
    # Of a test: the node that it is about.
    attached_node: str | None = None
    test_metadata: TestMetadata | None = None
    column_name: str | None = None
    # Of an exposure.
    type: str | None = None
    label: str | None = None
    url: str | None = None
    owner: Owner | None = None

    @property
    def table(self) -> str:
        """Return the name of its table in its schema."""
        return self.identifier or self.alias or self.name

    def option(self, name: str) -> Any:
        """Return a value of the configuration, or None."""
        return (self.config or {}).get(name)

    @property
    def all_meta(self) -> dict[str, Any]:
        """Return `meta`, also where newer versions of dbt keep it."""
        configured = self.option("meta")
        return {**(configured if isinstance(configured, dict) else {}), **(self.meta or {})}

    @property
    def parents(self) -> list[str]:
        """Return the ids of the nodes that it depends on."""
        return (self.depends_on.nodes or []) if self.depends_on else []

    @property
    def sql(self) -> str:
        """Return the compiled SQL, or ""."""
        return (self.compiled_code or self.compiled_sql or "") if self._is_sql else ""

    @property
    def template(self) -> str:
        """Return the SQL with Jinja that dbt compiles, or ""."""
        return (self.raw_code or self.raw_sql or "") if self._is_sql else ""

    @property
    def _is_sql(self) -> bool:
        return self.language in (None, "sql")


class Timing(msgspec.Struct):
    name: str
    started_at: str | None = None
    completed_at: str | None = None


class NodeResult(msgspec.Struct):
    """What became of one node in an invocation."""

    unique_id: str
    status: str
    timing: list[Timing] | None = None
    message: str | None = None
    failures: int | None = None
    adapter_response: dict[str, Any] | None = None


class Freshness(msgspec.Struct):
    """When a source was last loaded, as `dbt source freshness` found it."""

    unique_id: str
    max_loaded_at: str | None = None
    snapshotted_at: str | None = None


@dataclass
class Invocation:
    """One command of dbt and its results."""

    id: str
    command: str
    generated_at: str
    started_at: str | None
    elapsed_seconds: float
    dbt_version: str
    arguments: Mapping[str, Any]
    results: list[NodeResult]

    @property
    def has_runs(self) -> bool:
        """Return True if the command built or tested something."""
        return self.command in RUN_COMMANDS


@dataclass
class Artifacts:
    """Everything that an import reads.

    nodes: models, tests, seeds, snapshots, sources, exposures, metrics and others by unique id.
    groups: the owner of each group.
    catalog: the columns of each table in order, with their types."""

    project: str
    adapter: str
    generated_at: str
    nodes: dict[str, Node] = field(default_factory=dict)
    groups: dict[str, Owner] = field(default_factory=dict)
    catalog: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    invocation: Invocation | None = None
    freshness: list[Freshness] = field(default_factory=list)


def read_artifacts(folder: Path, report: ImportReport) -> Artifacts:
    """Return the artifacts in a target folder. Raises QueryError if it has no manifest."""
    manifest = _read_object(folder / MANIFEST)
    if manifest is None:
        raise QueryError(
            f"{folder} has no {MANIFEST}",
            hint="Name the target folder of a dbt project; `dbt build` or `dbt parse` fills it.",
        )
    metadata = _dict(manifest.get("metadata"))
    if "nodes" not in manifest or "/dbt/manifest/" not in str(metadata.get("dbt_schema_version")):
        raise QueryError(f"{folder / MANIFEST} is no manifest of dbt")
    artifacts = Artifacts(
        project=_project_name(metadata, manifest),
        adapter=str(metadata.get("adapter_type") or ""),
        generated_at=_time(metadata, "generated_at", MANIFEST, report) or "",
    )
    for section in _SECTIONS:
        _add_nodes(artifacts, section, _section(MANIFEST, manifest, section, report), report)
    for key, group in _section(MANIFEST, manifest, "groups", report).items():
        owner = _convert(_dict(group).get("owner"), Owner)
        if owner is not None:
            artifacts.groups[str(_dict(group).get("name"))] = owner
        else:
            report.add_problem(f"{MANIFEST}: groups.{key}", "it has no owner")
    _add_catalog(artifacts, _read_optional(folder / CATALOG, report) or {}, report)
    artifacts.invocation = _invocation(_read_optional(folder / RUN_RESULTS, report), report)
    sources = _read_optional(folder / SOURCES, report) or {}
    for number, result in enumerate(_list_of(sources, "results", SOURCES, report)):
        freshness = _convert(result, Freshness)
        place = f"{SOURCES}: results[{number}]"
        if freshness is None:
            report.add_problem(place, "it is no result of a source")
        elif not all(map(_is_time, (freshness.max_loaded_at, freshness.snapshotted_at))):
            report.add_problem(place, "its times are malformed")
        elif freshness.max_loaded_at:
            artifacts.freshness.append(freshness)
    return artifacts


def _read_optional(path: Path, report: ImportReport) -> dict[str, Any] | None:
    """Return the content of a file beside the manifest; None too if it is a problem."""
    try:
        return _read_object(path)
    except QueryError as error:
        report.add_problem(path.name, error.message)
        return None


def _read_object(path: Path) -> dict[str, Any] | None:
    """Return the content of a file; None if there is no such file. Raises QueryError."""
    try:
        check_file(path, FILE_BYTES_MAX)
        content = decode(path.read_bytes(), out_of_range=no_number)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise QueryError(f"{path} cannot be read: {error.strerror}") from error
    except EventError as error:
        raise QueryError(f"{path} is not JSON", hint="Let dbt write it again.") from error
    if not isinstance(content, dict):
        raise QueryError(f"{path} is no artifact of dbt: it must be a JSON object")
    return content


def _project_name(metadata: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """Return the name of the project; older manifests only have it in the ids of their nodes."""
    packages = (_dict(node).get("package_name") for node in _dict(manifest["nodes"]).values())
    return str(metadata.get("project_name") or next(filter(None, packages), "") or "dbt")


def _add_nodes(
    artifacts: Artifacts, section: str, nodes: Mapping[str, Any], report: ImportReport
) -> None:
    for unique_id, content in nodes.items():
        try:
            node = msgspec.convert(content, Node, strict=False)
        except msgspec.ValidationError as error:
            report.add_problem(f"{MANIFEST}: {section}.{unique_id}", str(error))
            continue
        if node.unique_id != unique_id:
            problem = f"its unique_id is {node.unique_id[:200]!r}"
            report.add_problem(f"{MANIFEST}: {section}.{unique_id}", problem)
            continue
        if not node.table.strip():
            report.add_problem(f"{MANIFEST}: {section}.{unique_id}", "it has no name")
            continue
        artifacts.nodes[unique_id] = node


def _add_catalog(artifacts: Artifacts, catalog: Mapping[str, Any], report: ImportReport) -> None:
    for section in ("nodes", "sources"):
        for unique_id, table in _section(CATALOG, catalog, section, report).items():
            listed = _dict(table).get("columns")
            if not isinstance(listed, dict):
                report.add_problem(f"{CATALOG}: {section}.{unique_id}", "it has no columns")
                continue
            if unique_id not in artifacts.nodes:
                report.add_problem(
                    f"{CATALOG}: {section}.{unique_id}", f"{MANIFEST} has no such node"
                )
                continue
            columns = []
            for key, column in listed.items():
                if isinstance(_dict(column).get("name"), str):
                    columns.append(column)
                else:
                    place = f"{CATALOG}: {section}.{unique_id}.columns.{key}"
                    report.add_problem(place, "it has no name")
            artifacts.catalog[unique_id] = [
                (column["name"], str(column.get("type") or ""))
                for column in sorted(columns, key=_index)
            ]


def _index(column: Mapping[str, Any]) -> float:
    """Return the position of a column in its table; 0 if the catalog has none."""
    index = column.get("index")
    return index if isinstance(index, int | float) else 0


def _invocation(content: Mapping[str, Any] | None, report: ImportReport) -> Invocation | None:
    """Return the invocation of `run_results.json`; None if it names no id or no time."""
    if content is None:
        return None
    metadata, arguments = _dict(content.get("metadata")), _dict(content.get("args"))
    generated_at = _time(metadata, "generated_at", RUN_RESULTS, report)
    if not metadata.get("invocation_id") or generated_at is None:
        report.add_problem(RUN_RESULTS, "it has no metadata of an invocation")
        return None
    invocation = Invocation(
        id=str(metadata["invocation_id"]),
        command=str(arguments.get("which") or ""),
        generated_at=generated_at,
        started_at=_time(metadata, "invocation_started_at", RUN_RESULTS, report),
        elapsed_seconds=_elapsed_seconds(content, report),
        dbt_version=str(metadata.get("dbt_version") or ""),
        arguments=arguments,
        results=[],
    )
    for number, one in enumerate(_list_of(content, "results", RUN_RESULTS, report)):
        result = _convert(one, NodeResult)
        place = f"{RUN_RESULTS}: results[{number}]"
        if result is None:
            report.add_problem(place, "it is no result of a node")
            continue
        spans = result.timing or []
        if not all(_is_time(one.started_at) and _is_time(one.completed_at) for one in spans):
            report.add_problem(f"{place}.timing", "its times are malformed")
            result.timing = None
        invocation.results.append(result)
    return invocation


def _time(metadata: Mapping[str, Any], name: str, file: str, report: ImportReport) -> str | None:
    """Return a time of the metadata; None if it is absent, or a problem of the report."""
    value = metadata.get(name)
    if value in (None, ""):
        return None
    if not isinstance(value, str) or not _is_time(value):
        report.add_problem(f"{file}: metadata.{name}", "it is not a time")
        return None
    return value


def _is_time(text: str | None) -> bool:
    """Return True for a time, and if there is none."""
    return not text or parse_instant_or_none(text) is not None


def _elapsed_seconds(content: Mapping[str, Any], report: ImportReport) -> float:
    """Return the duration of an invocation in seconds; 0 if it is unknown or no duration."""
    elapsed = content.get("elapsed_time")
    if elapsed is None:
        return 0.0
    if not isinstance(elapsed, int | float) or not 0 <= elapsed <= ELAPSED_SECONDS_MAX:
        problem = f"it is no number of seconds from 0 to {ELAPSED_SECONDS_MAX:,}"
        report.add_problem(f"{RUN_RESULTS}: elapsed_time", problem)
        return 0.0
    return elapsed


def _section(
    file: str, content: Mapping[str, Any], name: str, report: ImportReport
) -> dict[str, Any]:
    """Return an object of a file; {} if it is absent, or a problem of the report."""
    section = content.get(name)
    if section is not None and not isinstance(section, dict):
        report.add_problem(f"{file}: {name}", "it is no object")
    return _dict(section)


def _list_of(content: Mapping[str, Any], name: str, file: str, report: ImportReport) -> list[Any]:
    """Return a list of a file; [] if it is absent, or a problem of the report."""
    found = content.get(name)
    if found is not None and not isinstance(found, list):
        report.add_problem(f"{file}: {name}", "it is no list")
    return found if isinstance(found, list) else []


def _convert(content: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(content, kind, strict=False)
    except msgspec.ValidationError:
        return None


def _dict(content: Any) -> dict[str, Any]:
    return content if isinstance(content, dict) else {}
