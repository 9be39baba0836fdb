"""Which nodes and edges a walk may use: it neither shows nor goes through what does not pass.

A filter judges datasets and what is of them (versions, captures, columns) by their namespace, tags and owners, and jobs
and their runs by those of their own and by type, each only by what is asked of its kind: jobs are what joins datasets,
so a tag that only datasets have must not part them. Answers are judged by time alone. Where several values are given
any of them will do; where several things are asked all must hold. What a node is not known to have it does not have;
only a time that is not known passes.

A range of time asks of an edge of the map that it was seen in it, from its first sighting to its last; of a run that
it was under way in it; of a version, a capture or an answer that it was made in it. The ends are in the range, to the
millisecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from headwater.cypher.driver.database import READ_SECONDS_MAX, Row
from headwater.errors import QueryError
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility

VALUES_MAX = 100
_URNS_PER_QUERY_MAX = 2_000
_PROCESSES = ("job:", "run:")


@dataclass(frozen=True)
class Filter:
    """What is asked of nodes and edges; an empty tuple or None asks nothing. In namespaces `*` stands for any
    characters; a tag is key=value, or a key with any value; job types and owners match in either case.

    Raises QueryError when it cannot be meant so.
    """

    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    job_namespaces: tuple[str, ...] = ()
    job_tags: tuple[str, ...] = ()
    job_owners: tuple[str, ...] = ()
    job_types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        for asked in (*self._of_datasets, *self._of_jobs):
            if len(asked) > VALUES_MAX or not all(asked):
                raise QueryError(
                    f"a filter takes at most {VALUES_MAX} values of one kind, none of them empty",
                    hint="Leave out what is not to be asked.",
                )
        if self.since is not None and self.until is not None and self.since > self.until:
            raise QueryError(
                f"since {self.since.isoformat()} is later than until {self.until.isoformat()}",
                hint="Give the earlier instant as since.",
            )

    @property
    def _of_datasets(self) -> tuple[tuple[str, ...], ...]:
        return self.namespaces, self.tags, self.owners

    @property
    def _of_jobs(self) -> tuple[tuple[str, ...], ...]:
        return self.job_namespaces, self.job_tags, self.job_owners, self.job_types

    @property
    def asks_nodes(self) -> bool:
        """Whether any node could fail to pass."""
        return any(self._of_datasets) or any(self._of_jobs) or self.asks_time

    @property
    def asks_time(self) -> bool:
        return self.since is not None or self.until is not None

    def has_edge(self, first: int | None, last: int | None) -> bool:
        """Whether something that was from `first` to `last`, in milliseconds since 1970, meets the range of time."""
        since, until = self._range
        began_late = until is not None and first is not None and first > until
        ended_early = since is not None and last is not None and last < since
        return not began_late and not ended_early

    def refused(
        self, view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX
    ) -> set[str]:
        """Those of these nodes that do not pass."""
        wanted = list(urns)
        if not self.asks_nodes:
            return set()
        found: set[str] = set()
        for start in range(0, len(wanted), _URNS_PER_QUERY_MAX):
            some = wanted[start : start + _URNS_PER_QUERY_MAX]
            rows = {
                row["urn"]: row
                for row in view.read("read/nodes/filter_properties", seconds=seconds, urns=some)
            }
            found.update(urn for urn in some if urn not in rows or not self.passes(rows[urn]))
        return found

    def passes(self, row: Row) -> bool:
        """Whether a node with the properties that `read/nodes/filter_properties` returns passes."""
        if not self.has_edge(row["first"], row["last"]):
            return False
        if row["urn"].startswith("answer:"):
            return True
        if row["urn"].startswith(_PROCESSES):
            types = {type.upper() for type in self.job_types}
            asked = (self._job_places, self.job_tags, self.job_owners)
            return (not types or (row["type"] or "").upper() in types) and _is_asked_for(
                row, *asked
            )
        return _is_asked_for(row, self._places, self.tags, self.owners)

    @cached_property
    def _range(self) -> tuple[int | None, int | None]:
        since, until = (
            None if at is None else int(at.timestamp() * 1_000) for at in (self.since, self.until)
        )
        return since, until

    @cached_property
    def _places(self) -> Visibility:
        return Visibility(self.namespaces or ("*",))

    @cached_property
    def _job_places(self) -> Visibility:
        return Visibility(self.job_namespaces or ("*",))


def _is_asked_for(
    row: Row, places: Visibility, tags: tuple[str, ...], owners: tuple[str, ...]
) -> bool:
    field = row["field"]
    has = {tag.removeprefix(f"{field}:") if field else tag for tag in row["tags"]}
    # What was sent as `certified=true` stands as `certified`, and is found by both.
    has.update([other for tag in has for other in (tag.partition("=")[0], f"{tag}=true")])
    owned = {owner.casefold() for owner in row["owners"]}
    return (
        places.includes(row["namespace"])
        and (not tags or not has.isdisjoint(tags))
        and (not owners or not owned.isdisjoint(owner.casefold() for owner in owners))
    )


EVERY_NODE = Filter()
