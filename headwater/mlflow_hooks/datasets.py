"""What a training read and made, in a user's words or MLflow's, as Headwater names it. Pure.

Taken are paths (or URIs of files), what `headwater.client` and `model_version` return, and mappings with `namespace`
and `name`; a mapping may also have `type` (FEATURE, VIEW, TOPIC, FILE, REPORT, MODEL, ...), `version` (what the
producer calls the version that was read) and `runId` (the run that made it). A path is named as Spark's listener
names it, so that a training meets the tables that Spark wrote.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from headwater.client import Artifact, Source
from headwater.errors import SettingsError
from headwater.spark_hooks.naming import dataset_name

Said = str | os.PathLike[str] | Source | Artifact | Mapping[str, str]
Reference = dict[str, str]

KEYS = frozenset({"namespace", "name", "type", "version", "runId"})
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:/")
_MLFLOW_ID = re.compile(r"[0-9a-f]{32}", re.IGNORECASE | re.ASCII)
# Which field of an MLflow source is a place, by the source's type; file systems have `uri` and a scheme in it.
_PLACES = {"local": "uri", "http": "url", "delta_table": "path", "spark": "path"}


def run_uuid(mlflow_id: str) -> str:
    """The run id of an MLflow run: MLflow's is a UUID without its dashes."""
    return str(
        UUID(mlflow_id)
        if _MLFLOW_ID.fullmatch(mlflow_id)
        else uuid5(NAMESPACE_URL, f"mlflow:{mlflow_id}")
    )


def server_namespace(uri: str) -> str:
    """The namespace of what an MLflow server or store holds: its address, without scheme, user or password."""
    parts = urlsplit(uri)
    host = parts.netloc.rpartition("@")[2]
    if not host and not parts.path.strip("/"):
        return f"mlflow://{parts.scheme or 'local'}"
    path = parts.path if parts.scheme or host else os.path.abspath(parts.path)
    return f"mlflow://{host.lower()}{'/' if path.strip('/') else ''}{path.strip('/')}"


def references(said: Iterable[Said]) -> list[Reference]:
    """Each dataset once, in order; raises SettingsError for what is none."""
    if isinstance(said, (str, os.PathLike, Mapping)):
        raise SettingsError("datasets are given as a list")
    return merged(_reference(one) for one in said)


def merged(found: Iterable[Reference]) -> list[Reference]:
    """Each dataset once, as it was first said."""
    once: dict[tuple[str, str], Reference] = {}
    for reference in found:
        once.setdefault((reference["namespace"], reference["name"]), reference)
    return list(once.values())


def _reference(said: Said) -> Reference:
    if isinstance(said, (Source, Artifact)):
        return said.reference
    if isinstance(said, Mapping):
        unknown = said.keys() - KEYS
        if unknown or not said.get("namespace") or not said.get("name"):
            raise SettingsError(
                f"a dataset has namespace and name, and may have type, version, runId: {dict(said)!r}"
            )
        return {key: str(value) for key, value in said.items()}
    if isinstance(said, (str, os.PathLike)) and os.fspath(said).strip():
        return _place(os.fspath(said))
    raise SettingsError(f"neither a path nor a dataset: {said!r}")


def _place(path: str) -> Reference:
    namespace, name = dataset_name(path if _SCHEME.match(path) else os.path.abspath(path))
    return {"namespace": namespace, "name": name}


def logged(inputs: Iterable[Any]) -> list[Reference]:
    """The places that MLflow's logged inputs (`mlflow.log_input`) name. A table without its catalog, a snippet of
    code or rows made up in the program are no place, and are passed over."""
    return merged(
        place for one in inputs for place in _logged(one.dataset.source_type, one.dataset.source)
    )


def _logged(source_type: str, source: str) -> list[Reference]:
    try:
        fields = json.loads(source)
    except ValueError:
        return []
    if not isinstance(fields, dict):
        return []
    place = fields.get(_PLACES.get(source_type, "uri"))
    if not isinstance(place, str) or not place.strip():
        return []
    return [_place(place)] if source_type in _PLACES or _SCHEME.match(place) else []
