"""Requests: a caller's question about lineage, and one traversal of a layer, with their bounds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.layers import Layer

DEPTH_DEFAULT = 10
DEPTH_MAX = 50
DIRECTIONS = ("UPSTREAM", "DOWNSTREAM", "BOTH")
NODES_MAX = 5_000
EDGES_MAX = 20_000
TRAVERSAL_SECONDS_MAX = 5.0
_HASH_CHARACTERS = 16
# A derivation is read as part of an output's row, so an edge may cost more than one row.
_ROWS_PER_EDGE = 3

# The step that a traversal takes next from a node: the kind of step, and the visible nodes on it.
#
#     (0, cited)          a citation
#     (1, job, dataset)   over a job or run to a dataset or version
#     (2, other)          a direct neighbour
#     (3, shown)          a path through hidden nodes, by the visible node at its end
#
# The empty resume point comes before all steps, `HIDDEN_ONLY` after all steps that stay visible.
ResumePoint = tuple[int | str, ...]
HIDDEN_ONLY: ResumePoint = (3,)


class Bounds(NamedTuple):
    """Limits of a traversal. `deadline` is a reading of time.monotonic()."""

    depth: int
    nodes_max: float
    edges_max: float
    deadline: float

    @classmethod
    def within(
        cls, timeout_seconds: float, *, depth: int, nodes_max: int, edges_max: int
    ) -> Bounds:
        """Return bounds whose deadline is `timeout_seconds` from now."""
        return cls(depth, nodes_max, edges_max, time.monotonic() + timeout_seconds)


@dataclass(frozen=True)
class TraversalRequest:
    """One or more traversals of a layer that share their reads.

    Args:
        layer: The layer and its direction.
        bounds: The limits of each traversal.
        as_of: The instant for a layer of `layers.at_instant`.
        filter: Nodes and edges that do not pass are neither shown nor followed. Starts always pass.
        resume_from: By urn, the step from which a traversal resumes.
        shared_rows_max: The rows that all traversals together may read; 0: those of one traversal.
        prefetch: Read everything reachable before the first hop, where the layer has a query for
            that.
        find_resume_points: Look one hop ahead of a traversal that was cut short, to find where it
            can resume.
    """

    layer: Layer
    bounds: Bounds
    as_of: datetime | None = None
    filter: Filter = EVERY_NODE
    resume_from: Mapping[str, ResumePoint] = field(default_factory=dict)
    shared_rows_max: int = 0
    prefetch: bool = False
    find_resume_points: bool = True

    @property
    def rows_max(self) -> int:
        """Return the number of rows that all traversals together may read."""
        return self.shared_rows_max or int(self.bounds.edges_max * _ROWS_PER_EDGE)


@dataclass(frozen=True)
class LineageRequest:
    """A question about lineage.

    Args:
        urns: The nodes from which it starts.
        direction: UPSTREAM, DOWNSTREAM or BOTH.
        depth: The number of hops, 1 to 50.
        level: DATASET_AND_JOB, COLUMN or RUN follow that layer. TOP or a job type shows jobs and
            runs as their containers. Empty: the layer of the starts.
        as_of: The instant at which the lineage graph is followed; None: the current graph.
        between: Two instants, earlier first: the lineage at the second, and its difference from the
            first.
        filter: Nodes and edges that do not pass are neither shown nor followed. Starts always pass.
        to: Another node: show only what lies on paths between the starts and it; "" for none.
        after: The cursor of a continuation: show the nodes that come after it.
        nodes_max: The number of nodes at which the traversal is cut short.
        edges_max: The number of edges at which the traversal is cut short.
        timeout_seconds: The time after which the traversal is cut short.
        fresh: Include everything committed before the request. Without it a cached lineage graph
            may lag by a second.
    """

    urns: tuple[str, ...]
    direction: str = "BOTH"
    depth: int = DEPTH_DEFAULT
    level: str = ""
    as_of: datetime | None = None
    between: tuple[datetime, datetime] | None = None
    filter: Filter = EVERY_NODE
    to: str = ""
    after: str | None = None
    nodes_max: int = NODES_MAX
    edges_max: int = EDGES_MAX
    timeout_seconds: float = TRAVERSAL_SECONDS_MAX
    fresh: bool = False

    def bounds(self) -> Bounds:
        """Return its bounds, with a deadline counted from now."""
        return Bounds.within(
            self.timeout_seconds,
            depth=self.depth,
            nodes_max=self.nodes_max,
            edges_max=self.edges_max,
        )

    @cached_property
    def canonical_level(self) -> str:
        """Return the level in capitals, without spaces around it."""
        return self.level.strip().upper()

    @cached_property
    def hash(self) -> str:
        """Return the hash that equal questions share; it leaves out the cursor and the bounds."""
        filter = tuple(vars(self.filter)[name] for name in Filter.__dataclass_fields__)
        key = (self.urns, self.direction, self.depth, self.canonical_level, self.as_of, filter)
        return hashlib.sha256(repr(key).encode()).hexdigest()[:_HASH_CHARACTERS]

    @property
    def is_plain(self) -> bool:
        """Return True for the current lineage graph at its own level, without further options."""
        options = (
            self.canonical_level,
            self.as_of,
            self.between,
            self.to,
            self.after,
            self.fresh,
        )
        return not any(options) and self.filter == EVERY_NODE
