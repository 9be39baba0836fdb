"""Datasets and jobs as assets, found by the identifiers that people and scripts use.

A caller names an asset by its id (`asset_` and the beginning of its guid), by its urn, or by its
bare name if only one asset has that name. A hidden asset is treated as missing in all three cases.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from headwater.errors import AmbiguousError, NotFoundError, QueryError
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import DEFAULT_NAMESPACE
from headwater.schema.naming import normalise
from headwater.schema.urns import KINDS, dataset_urn, guid_of, parse_urn

_ID_PREFIX = "asset_"
_ID = re.compile(r"asset_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})")
_ASSET_KINDS = ("dataset", "job")
# How many assets of one name are read.
NAMESAKES_MAX = 20


def asset_id(urn: str) -> str:
    """Return the id of an asset, which depends on its urn alone."""
    return _ID_PREFIX + guid_of(urn).replace("-", "")[:16]


def registered_urn(name: str, namespace: str = DEFAULT_NAMESPACE) -> str:
    """Return the urn under which an asset of this name is registered."""
    normal = normalise(namespace, name)
    return dataset_urn(normal.namespace, normal.name)


def find_asset(view: GraphView, reference: str) -> str:
    """Return the urn of an asset, given its id, its urn or its name.

    Raises NotFoundError without a visible asset, AmbiguousError if several have the name.
    """
    urn = _find_asset(view, reference)
    if urn is None:
        raise NotFoundError(
            f"there is no asset {reference!r}", hint="Register it, or use another name of it."
        )
    return urn


def find_by_guid(view: GraphView, guid: str) -> str | None:
    """Return the urn of the only visible dataset or job whose guid begins with the given text."""
    rows = view.read(
        "read/catalog/assets_by_guid_prefix", prefix=guid, visible=view.visibility.regexes
    )
    return rows[0]["urn"] if len(rows) == 1 else None


def _find_asset(view: GraphView, reference: str) -> str | None:
    id_parts = _ID.fullmatch(reference)
    if id_parts:
        return find_by_guid(view, "-".join(id_parts.groups()))
    kind = reference.partition(":")[0]
    if kind in KINDS and kind in _ASSET_KINDS:
        try:
            urn = resolve_urn(view, reference)
        except QueryError:
            return None
        rows = view.read("read/nodes/properties", urns=select_visible(view, [urn]))
        return urn if rows else None
    candidates = assets_by_name(view, [reference])[reference]
    return _choose(reference, candidates, DEFAULT_NAMESPACE, or_mentioned=True)


def assets_by_name(view: GraphView, names: Iterable[str]) -> dict[str, dict[str, bool]]:
    """Return the visible datasets and jobs of each name, and whether an event described them.

    An asset that events only mention has the value False. A job with the namespace and name of a
    dataset is the same asset as the dataset, and is excluded.
    """
    distinct_names = list(dict.fromkeys(names))
    candidates: dict[str, dict[str, bool]] = defaultdict(dict)
    rows = view.read(
        "read/catalog/assets_by_name",
        names=distinct_names,
        visible=view.visibility.regexes,
        limit=NAMESAKES_MAX,
    )
    for row in rows:
        candidates[row["name"]][row["urn"]] = row["described"]
    return {name: _without_twin_jobs(candidates[name]) for name in distinct_names}


def resolve_upstream(name: str, candidates: Mapping[str, bool], namespace: str) -> str:
    """Return the dataset that the name of an upstream asset means.

    It is the asset of this namespace, or else the only dataset of that name anywhere. If there is
    none, it is the urn under which the name will be registered. Raises AmbiguousError.
    """
    datasets = {
        urn: is_described for urn, is_described in candidates.items() if urn.startswith("dataset:")
    }
    return _choose(name, datasets, namespace) or registered_urn(name, namespace)


def _without_twin_jobs(candidates: Mapping[str, bool]) -> dict[str, bool]:
    datasets = {parse_urn(urn).parts for urn in candidates if urn.startswith("dataset:")} - {()}
    return {
        urn: described
        for urn, described in candidates.items()
        if urn.startswith("dataset:") or parse_urn(urn).parts not in datasets
    }


def _choose(
    name: str, candidates: Mapping[str, bool], namespace: str, *, or_mentioned: bool = False
) -> str | None:
    """Return the asset of the namespace, or else the only described one."""
    described = [urn for urn, is_described in candidates.items() if is_described]
    own = registered_urn(name, namespace)
    if own in described or (or_mentioned and not described and own in candidates):
        return own
    if len(described) > 1:
        raise AmbiguousError(
            f"{len(described)} assets have the name {name!r}: {', '.join(sorted(described))}",
            hint="Name the asset by its urn.",
        )
    return described[0] if described else None
