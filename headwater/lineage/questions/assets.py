"""Datasets and jobs as assets: found by what people and their scripts call them.

An asset is asked for by its id (`asset_` and the beginning of its guid), by its urn, or by its bare name where that is
the name of one asset only. What may not be seen is not there, for every one of the three.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from headwater.errors import NotFoundError, QueryError
from headwater.lineage.node_visibility import visible
from headwater.lineage.nodes import resolve
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import DEFAULT_NAMESPACE
from headwater.schema.naming import normalise
from headwater.schema.urns import KINDS, dataset_urn, guid_of, parse_urn

_ID_PREFIX = "asset_"
_ID = re.compile(r"asset_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})")
_ASSET_KINDS = ("dataset", "job")
# Of those that share a name so many are told.
NAMESAKES_MAX = 20


class AmbiguousError(QueryError):
    """A name that more than one asset has."""

    status = 409


def asset_id(urn: str) -> str:
    """The id of an asset: the same for the same dataset or job, always."""
    return _ID_PREFIX + guid_of(urn).replace("-", "")[:16]


def registered_urn(name: str, namespace: str = DEFAULT_NAMESPACE) -> str:
    """The urn of the dataset that an asset is registered as."""
    kept = normalise(namespace, name)
    return dataset_urn(kept.namespace, kept.name)


def find_asset(view: GraphView, reference: str) -> str:
    """The urn of an asset by its id, its urn or its name.

    Raises NotFoundError when there is none that may be seen, AmbiguousError when it is the name of several."""
    found = (
        _by_id(view, reference) if _ID.fullmatch(reference) else _by_urn_or_name(view, reference)
    )
    if found is None:
        raise NotFoundError(
            f"there is no asset {reference!r}", hint="Register it, or ask by another name of it."
        )
    return found


def find_by_guid(view: GraphView, guid: str) -> str | None:
    """The urn of the dataset or job that may be seen and whose guid begins so; None without one."""
    rows = visible(
        view,
        (row["urn"] for row in view.read("read/catalog/assets_by_guid_prefix", prefix=guid)),
    )
    return rows[0] if len(rows) == 1 else None


def _by_id(view: GraphView, reference: str) -> str | None:
    parts = _ID.fullmatch(reference)
    return find_by_guid(view, "-".join(parts.groups())) if parts else None


def _by_urn_or_name(view: GraphView, reference: str) -> str | None:
    kind = reference.partition(":")[0]
    if kind in KINDS and kind in _ASSET_KINDS:
        try:
            urn = resolve(view, reference)
        except QueryError:
            return None
        known = view.read("read/nodes/properties", urns=visible(view, [urn]))
        return urn if known else None
    return _chosen(
        reference,
        assets_by_name(view, [reference])[reference],
        DEFAULT_NAMESPACE,
        and_mentioned=True,
    )


def assets_by_name(view: GraphView, names: Iterable[str]) -> dict[str, dict[str, bool]]:
    """The datasets and jobs of each of these names that may be seen, and whether anything was told of them but their
    name. A job beside a dataset of its namespace and name is the same asset, and left out."""
    wanted = list(dict.fromkeys(names))
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in view.read(
        "read/catalog/assets_by_name",
        names=wanted,
        sees=view.visibility.regexes,
        limit=NAMESAKES_MAX,
    ):
        found[row["wanted"]][row["urn"]] = row["told"]
    return {name: _without_twins(found[name]) for name in wanted}


def resolve_upstream(name: str, candidates: dict[str, bool], namespace: str) -> str:
    """The dataset that a name of an upstream asset means: the asset of this namespace; without one the only dataset of
    that name anywhere; and where nothing is known, what will be registered by this name. Raises AmbiguousError."""
    datasets = {urn: told for urn, told in candidates.items() if urn.startswith("dataset:")}
    return _chosen(name, datasets, namespace) or registered_urn(name, namespace)


def _without_twins(urns: dict[str, bool]) -> dict[str, bool]:
    datasets = {parse_urn(urn).parts for urn in urns if urn.startswith("dataset:")} - {()}
    return {
        urn: told
        for urn, told in urns.items()
        if urn.startswith("dataset:") or parse_urn(urn).parts not in datasets
    }


def _chosen(
    name: str, urns: dict[str, bool], namespace: str, *, and_mentioned: bool = False
) -> str | None:
    told = [urn for urn, is_told in urns.items() if is_told]
    own = registered_urn(name, namespace)
    if own in told or (and_mentioned and not told and own in urns):
        return own
    if len(told) > 1:
        raise AmbiguousError(
            f"{len(told)} assets are called {name!r}: {', '.join(sorted(told))}",
            hint="Name the one you mean by its urn.",
        )
    return told[0] if told else None
