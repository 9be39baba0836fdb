"""Filters: the nodes and edges that a traversal may show and follow.

A filter checks datasets and their versions, captures and columns by namespace, tag and owner. It
checks jobs and their runs by those of their own and by type. Each kind of node is checked only
against the conditions for that kind: jobs join datasets, so a tag that only datasets have must not
separate these. Answers are checked by time alone. One of several values of a condition suffices;
all conditions must hold. An unknown property does not pass; an unknown time passes.

A period of time applies to an edge of the lineage graph from its first sighting to its last, to a
run while it was running, and to a version, capture or answer at its creation. The ends belong to
the period, to the millisecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from headwater.chunks import chunks
from headwater.cypher.driver.database import READ_SECONDS_MAX, Row
from headwater.errors import QueryError
from headwater.lineage.traversal.layers import JOBS_AND_RUNS
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility

VALUES_MAX = 100
_URNS_PER_QUERY_MAX = 2_000


@dataclass(frozen=True)
class Filter:
    """Conditions on nodes and edges; an empty tuple or None is no condition.

    In namespaces `*` stands for any characters. A tag is key=value, or a key with any value. Job
    types and owners match in either case. Raises QueryError for a value or a period that cannot
    match.
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
        for values in (*self._dataset_conditions, *self._job_conditions):
            if len(values) > VALUES_MAX or not all(values):
                raise QueryError(
                    f"a filter takes at most {VALUES_MAX} values of one kind, none of them empty",
                    hint="Leave out conditions that you do not need.",
                )
        if self.since is not None and self.until is not None and self.since > self.until:
            raise QueryError(
                f"since {self.since.isoformat()} is later than until {self.until.isoformat()}",
                hint="Give the earlier instant as since.",
            )

    @property
    def _dataset_conditions(self) -> tuple[tuple[str, ...], ...]:
        return self.namespaces, self.tags, self.owners

    @property
    def _job_conditions(self) -> tuple[tuple[str, ...], ...]:
        return self.job_namespaces, self.job_tags, self.job_owners, self.job_types

    @property
    def checks_nodes(self) -> bool:
        """Return True if a node can fail to pass."""
        return any(self._dataset_conditions) or any(self._job_conditions) or self.checks_time

    @property
    def checks_time(self) -> bool:
        """Return True if the filter has a period of time."""
        return self.since is not None or self.until is not None

    def admits_period(self, first: int | None, last: int | None) -> bool:
        """Return True if a period meets that of the filter.

        Args:
            first: Its beginning in milliseconds since 1970; None: unknown.
            last: Its end in milliseconds since 1970; None: unknown.
        """
        since, until = self._period
        began_late = until is not None and first is not None and first > until
        ended_early = since is not None and last is not None and last < since
        return not began_late and not ended_early

    def find_rejected(
        self, view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX
    ) -> set[str]:
        """Return those of these nodes that do not pass."""
        if not self.checks_nodes:
            return set()
        rejected: set[str] = set()
        for some in chunks(urns, _URNS_PER_QUERY_MAX):
            rows = view.read("read/nodes/filter_properties", seconds=seconds, urns=some)
            admitted = {row["urn"] for row in rows if self.admits(row)}
            rejected.update(urn for urn in some if urn not in admitted)
        return rejected

    def admits(self, row: Row) -> bool:
        """Return True if a node passes, given its row of the query
        `read/nodes/filter_properties`."""
        if not self.admits_period(row["first"], row["last"]):
            return False
        if row["urn"].startswith("answer:"):
            return True
        if not row["urn"].startswith(JOBS_AND_RUNS):
            return _matches(row, self._visibility, self.tags, self.owners)
        types = {type.upper() for type in self.job_types}
        if types and (row["type"] or "").upper() not in types:
            return False
        return _matches(row, self._job_visibility, self.job_tags, self.job_owners)

    @cached_property
    def _period(self) -> tuple[int | None, int | None]:
        return _milliseconds(self.since), _milliseconds(self.until)

    @cached_property
    def _visibility(self) -> Visibility:
        return Visibility(self.namespaces or ("*",))

    @cached_property
    def _job_visibility(self) -> Visibility:
        return Visibility(self.job_namespaces or ("*",))


def _milliseconds(instant: datetime | None) -> int | None:
    return None if instant is None else int(instant.timestamp() * 1_000)


def _matches(
    row: Row, namespaces: Visibility, tags: tuple[str, ...], owners: tuple[str, ...]
) -> bool:
    if not namespaces.includes(row["namespace"]):
        return False
    if tags and _tags_of(row).isdisjoint(tags):
        return False
    owned_by = {owner.casefold() for owner in row["owners"]}
    return not owners or not owned_by.isdisjoint(owner.casefold() for owner in owners)


def _tags_of(row: Row) -> set[str]:
    """Return the tags of a node in each form in which a filter may give them.

    A tag sent as `certified=true` is stored as `certified`; both forms find it.
    """
    field = row["field"]
    tags = {tag.removeprefix(f"{field}:") if field else tag for tag in row["tags"]}
    keys = {tag.partition("=")[0] for tag in tags}
    return tags | keys | {f"{tag}=true" for tag in tags}


EVERY_NODE = Filter()
