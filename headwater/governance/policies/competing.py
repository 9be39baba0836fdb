"""Datasets that compete: two places that tell the same, made from the same sources.

Two datasets compete if they have the same columns, come from the same sources, and neither is
upstream of the other. A dataset whose sources the caller does not see, or whose search ended at a
bound, competes with none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.governance.policies.reached import Reached, read_reached
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.view import GraphView
from headwater.schema.tags import has_tag

# One column in common, such as an id, says little.
COLUMNS_MIN = 2
_PAGE = 1_000
_CERTIFIED, _DEPRECATED = ("certified", "canonical"), ("deprecated",)
_UPSTREAM = {"upstream": True, "consumers": False, "downstream": False}


@dataclass(frozen=True)
class Candidate:
    """A dataset with the names of its columns in lower case."""

    urn: str
    columns: frozenset[str]
    is_certified: bool = False
    is_deprecated: bool = False


@dataclass(frozen=True)
class CompetingDatasets:
    """Datasets that compete with each other.

    sources: where all of them come from.
    preferred: the one that is certified and not deprecated; empty if there is none, or several.
    """

    datasets: tuple[Candidate, ...]
    columns: tuple[str, ...]
    sources: tuple[str, ...]
    preferred: str = ""


def competing_datasets(view: GraphView, urn: str = "") -> list[CompetingDatasets]:
    """Return the visible datasets that compete, each group once, by the first urn.

    urn: only the groups of this dataset.
    """
    same = _by_columns(_read_candidates(view))
    if urn:
        same = [some for some in same if any(one.urn == urn for one in some)]
    urns = [one.urn for one in chain.from_iterable(same)]
    reached = read_reached(view, urns, _UPSTREAM)
    found = [group for some in same for group in group_competing(some, reached)]
    if urn:
        found = [group for group in found if any(one.urn == urn for one in group.datasets)]
    return sorted(found, key=lambda group: group.datasets[0].urn)


def certified_rivals(view: GraphView, urns: Collection[str]) -> dict[str, list[str]]:
    """Return the certified datasets that compete with each of these datasets, if there are any."""
    certified = [one for one in _read_candidates(view, certified=True) if one.is_certified]
    usable = [one for one in certified if not one.is_deprecated]
    if not usable:
        return {}
    wanted, shapes = set(urns), {one.columns for one in usable}
    known = {
        one.urn: one
        for one in _read_candidates_among(view, wanted)
        if one.columns in shapes and not one.is_certified
    }
    shapes = {one.columns for one in known.values()}
    known |= {one.urn: one for one in usable if one.columns in shapes}
    same = _by_columns(known.values())
    reached = read_reached(view, [one.urn for one in chain.from_iterable(same)], _UPSTREAM)
    rivals: dict[str, list[str]] = {}
    for some in same:
        for group in group_competing(some, reached):
            best = [one.urn for one in group.datasets if one.is_certified]
            for one in group.datasets:
                if one.urn in wanted and not one.is_certified and best:
                    rivals[one.urn] = best
    return rivals


def group_competing(
    candidates: Iterable[Candidate], reached: Mapping[str, Reached]
) -> list[CompetingDatasets]:
    """Return the groups that compete among datasets with the same columns."""
    by_sources: dict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for one in sorted(candidates, key=lambda one: one.urn):
        found = reached.get(one.urn)
        if found is not None and _is_known(found):
            by_sources[tuple(found.sources)].append(one)
    groups = []
    for sources, some in sorted(by_sources.items()):
        rivals = tuple(
            one for one in some if any(_are_apart(one.urn, two.urn, reached) for two in some)
        )
        if len(rivals) > 1:
            best = [one.urn for one in rivals if one.is_certified and not one.is_deprecated]
            preferred = best[0] if len(best) == 1 else ""
            columns = tuple(sorted(rivals[0].columns))
            groups.append(CompetingDatasets(rivals, columns, sources, preferred))
    return groups


def _is_known(found: Reached) -> bool:
    """Return True if a dataset has sources upstream, and all of them are known."""
    if not found.upstream or found.is_cut:
        return False
    return not any(urn.startswith(HIDDEN) for urn in found.upstream)


def _are_apart(one: str, two: str, reached: Mapping[str, Reached]) -> bool:
    """Return True if two datasets are not the same, and neither is upstream of the other."""
    return (
        one != two
        and one not in (reached[two].upstream or ())
        and two not in (reached[one].upstream or ())
    )


def _by_columns(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Return the lists of at least two datasets with the same columns."""
    same: dict[frozenset[str], list[Candidate]] = defaultdict(list)
    for one in candidates:
        same[one.columns].append(one)
    return [some for some in same.values() if len(some) > 1]


def _read_candidates_among(view: GraphView, urns: Collection[str]) -> Iterator[Candidate]:
    """Yield those of these datasets that are visible and have enough columns."""
    for some in chunks(select_visible(view, sorted(urns)), _PAGE):
        yield from _candidates(
            view.read("read/governance/dataset_columns_among", urns=some, columnsMin=COLUMNS_MIN)
        )


def _read_candidates(view: GraphView, *, certified: bool = False) -> Iterator[Candidate]:
    """Yield the visible datasets with enough columns."""
    after = ""
    while rows := view.read(
        "read/governance/dataset_columns",
        after=after,
        columnsMin=COLUMNS_MIN,
        certified=certified,
        visible=view.visibility.regexes,
        limit=_PAGE,
    ):
        visible = set(select_visible(view, [row["urn"] for row in rows]))
        yield from _candidates(row for row in rows if row["urn"] in visible)
        after = rows[-1]["urn"]


def _candidates(rows: Iterable[Row]) -> Iterator[Candidate]:
    for row in rows:
        columns = frozenset(name.casefold() for name in row["columns"])
        if len(columns) >= COLUMNS_MIN:
            own = [tag for tag in row["tags"] if tag.partition(":")[0] not in row["columns"]]
            is_deprecated = row["deprecated"] or has_tag(own, *_DEPRECATED)
            yield Candidate(row["urn"], columns, has_tag(own, *_CERTIFIED), is_deprecated)
