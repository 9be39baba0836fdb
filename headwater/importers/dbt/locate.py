"""Where dbt keeps its files: the target folder, the project, and the profile of a run.

The order of places equals that of openlineage-dbt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headwater.code_analysis.dbt.profiles import Connection, read_connection
from headwater.errors import QueryError
from headwater.importers.dbt.artifacts import MANIFEST, Artifacts
from headwater.importers.dbt.namespaces import FIXED, namespace_of
from headwater.ingest.receive.redaction_rules import Kind, kind_of

PROFILES = "profiles.yml"
PROJECT = "dbt_project.yml"
_TARGET = "target"


@dataclass(frozen=True)
class ProfileOptions:
    """The options of dbt that choose a connection; "" takes those of the last run."""

    folder: str = ""
    profile: str = ""
    target: str = ""


def target_folder(path: Path) -> Path:
    """Return the folder with the manifest: the path itself, or `target` of a project."""
    if not (path / MANIFEST).exists() and (path / _TARGET / MANIFEST).exists():
        return path / _TARGET
    return path.parent if path.name == MANIFEST and path.is_file() else path


def find_namespace(
    artifacts: Artifacts, target: Path, options: ProfileOptions, environment: Mapping[str, str]
) -> str:
    """Return the namespace of the datasets, from the profile that dbt used.

    Raises QueryError if no profile is found or it lacks a field."""
    if artifacts.adapter in FIXED:
        return FIXED[artifacts.adapter]
    arguments = artifacts.invocation.arguments if artifacts.invocation else {}
    project = Path(str(arguments.get("project_dir") or target.resolve().parent))
    profile = options.profile or str(arguments.get("profile") or "") or _profile_of(project)
    for folder in _profile_folders(options, arguments, project, environment):
        path = folder / PROFILES
        if path.is_file():
            name = options.target or str(arguments.get("target") or "")
            variables = _without_secrets(environment)
            connection: Connection = read_connection(path, profile, name, variables)
            return namespace_of(artifacts.adapter, connection)
    raise QueryError(
        f"the manifest does not name the address of the {artifacts.adapter or 'database'}, and no "
        f"{PROFILES} was found",
        hint="Name its folder with --profiles-dir, or the namespace of the datasets with "
        "--namespace, for example postgres://warehouse:5432.",
    )


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the environment without the values of our settings and of secrets.

    The name of a dataset is no secret, and dbt itself does not print those of DBT_ENV_SECRET_."""
    return {
        name: None
        if name.startswith("HEADWATER_") or kind_of(name.encode()) is Kind.SECRET
        else value
        for name, value in environment.items()
    }


def _profile_folders(
    options: ProfileOptions,
    arguments: Mapping[str, object],
    project: Path,
    environment: Mapping[str, str],
) -> Iterator[Path]:
    if options.folder:
        if not (Path(options.folder) / PROFILES).is_file():
            raise QueryError(f"--profiles-dir {options.folder} has no {PROFILES}")
        yield Path(options.folder)
    for name in (arguments.get("profiles_dir"), environment.get("DBT_PROFILES_DIR")):
        if name:
            yield Path(str(name))
    yield project
    yield Path.cwd()
    yield Path.home() / ".dbt"


def _profile_of(project: Path) -> str:
    """Return the profile that a project names, or ""."""
    import yaml

    from headwater.bounded_yaml import BoundedAliasLoader

    path = project / PROJECT
    if not path.is_file():
        return ""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), BoundedAliasLoader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return ""
    name = content.get("profile") if isinstance(content, dict) else None
    return name if isinstance(name, str) else ""
