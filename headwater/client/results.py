"""Answers to questions: frozen, readable, as data frames, and as HTML for notebooks."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.client import frames
from headwater.client.frames import Frames
from headwater.client.records import (
    AffectedAsset,
    Answer,
    Artifact,
    Assertion,
    Candidate,
    Column,
    Continuation,
    Difference,
    Edge,
    Metrics,
    Node,
    Record,
    Run,
    Source,
    SourceAge,
    Stale,
)
from headwater.client.rows import picture_of, trace_rows

if TYPE_CHECKING:
    import pandas

    from headwater.pictures.picture import Picture

# What a browser draws at once without delay, and what a person can still read.
_PICTURE_NODES_MAX = 300
_TEXT_CHARACTERS_MAX = 60
# What a notebook shows; a data frame has every field.
_ASSET_COLUMNS = ("severity", "kind", "name", "affected_references", "owners", "certified")
_CAUSE_COLUMNS = ("weight", "kind", "reason", "occurred_at", "before", "after", "urn")
_AGE_COLUMNS = ("urn", "newest_at", "exact")
_CHECK_COLUMNS = ("name", "column", "success", "expected", "actual", "reported_at")


class Impact(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of planned changes, nearest assets first.

    `risk_level` is high, medium or low. `truncated` is the bound that cut the report short.
    """

    risk_level: str
    affected_count: int
    breaking_count: int
    warning_count: int
    affected_assets: tuple[AffectedAsset, ...]
    unknown_count: int = 0
    certified_count: int = 0
    owners: tuple[str, ...] = ()
    hidden_affected: bool = False
    truncated: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Impact: risk {self.risk_level}, {self.breaking_count} breaking, "
            f"{self.unknown_count} unknown, {self.warning_count} warnings>"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return the affected assets as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self.affected_assets, AffectedAsset)

    def _repr_html_(self) -> str:
        return frames.html_table(self.affected_assets, _ASSET_COLUMNS, caption=repr(self))


class Lineage(Record, frozen=True, kw_only=True):
    """The nodes upstream and downstream of `starts`, nearest first, and the edges between them."""

    starts: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    truncated: bool
    truncated_by: str | None = None
    omitted_count: int = 0
    continuations: tuple[Continuation, ...] = ()
    difference: Difference | None = None

    def __repr__(self) -> str:
        more = f", truncated by {self.truncated_by}" if self.truncated else ""
        starts = ", ".join(self.starts)
        return f"<Lineage of {starts}: {_counts(self.nodes, self.edges)}{more}>"

    def to_pandas(self) -> Frames:
        """Return the nodes and the edges as two data frames. Raises QueryError without pandas."""
        return Frames(frames.to_frame(self.nodes, Node), frames.to_frame(self.edges, Edge))

    def _repr_html_(self) -> str:
        nodes = [_json(node) for node in self.nodes]
        subject = next(iter(self.starts), "")
        return _drawn(nodes, _json(self)["edges"], subject, repr(self))


class Trace(Record, frozen=True, kw_only=True):
    """An answer with everything upstream of it, back to its sources, nearest first."""

    answer: Answer
    sources: tuple[Source, ...]
    artifacts: tuple[Artifact, ...]
    runs: tuple[Run, ...]
    edges: tuple[Edge, ...]
    truncated: bool
    answers: tuple[Answer, ...] = ()
    columns: tuple[Column, ...] = ()
    stale: tuple[Stale, ...] = ()
    truncated_by: str | None = None

    def __repr__(self) -> str:
        more = f", truncated by {self.truncated_by}" if self.truncated else ""
        counts = (
            f"{len(self.sources)} sources, {len(self.runs)} runs, {len(self.artifacts)} artifacts"
        )
        return f"<Trace of {self.answer.answer_id}: {counts}, {len(self.stale)} stale{more}>"

    def to_pandas(self) -> Frames:
        """Return the nodes and the edges as two data frames. Raises QueryError without pandas."""
        return Frames(
            frames.frame_of_rows(trace_rows(_json(self, keep_instants=True))),
            frames.to_frame(self.edges, Edge),
        )

    def _repr_html_(self) -> str:
        found = _json(self)
        return _drawn(trace_rows(found), found["edges"], self.answer.urn, repr(self))


class RootCause(Record, frozen=True, kw_only=True):
    """Possible causes of bad data, the most likely first, and what is stale."""

    starts: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    truncated: bool
    stale: tuple[Stale, ...] = ()
    omitted_count: int = 0
    truncated_by: str | None = None

    def __repr__(self) -> str:
        reasons = [one.reason for one in self.candidates]
        reasons += [one.reason for one in self.stale]
        first = reasons[0] if reasons else "nothing found"
        count = f"{len(self.candidates)} candidates, {len(self.stale)} stale"
        return f"<RootCause: {count}; first: {_clip(first)}>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the candidates as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self.candidates, Candidate)

    def _repr_html_(self) -> str:
        return frames.html_table(self.candidates, _CAUSE_COLUMNS, caption=repr(self))


class Freshness(Record, frozen=True, kw_only=True):
    """The verdict FRESH, STALE or UNKNOWN about a dataset, and the age of the data behind it."""

    dataset: str
    state: str
    explanation: str
    exact: bool
    newest_at: datetime | None = None
    effective_at: datetime | None = None
    incomplete_reason: str | None = None
    causes: tuple[SourceAge, ...] = ()
    sources: tuple[SourceAge, ...] = ()

    def __repr__(self) -> str:
        return f"<Freshness of {self.dataset}: {self.state}; {self.explanation}>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the sources as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self.sources, SourceAge)

    def _repr_html_(self) -> str:
        return frames.html_table(self.causes or self.sources, _AGE_COLUMNS, caption=repr(self))


class Quality(Record, frozen=True, kw_only=True):
    """The newest result of each check, failed ones first, and the newest measurements."""

    failed: int
    assertions: tuple[Assertion, ...]
    metrics: tuple[Metrics, ...] = ()

    def __repr__(self) -> str:
        return f"<Quality: {len(self.assertions)} checks, {self.failed} failed>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the checks as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self.assertions, Assertion)

    def _repr_html_(self) -> str:
        return frames.html_table(self.assertions, _CHECK_COLUMNS, caption=repr(self))


class Table(msgspec.Struct, frozen=True):
    """The rows of a Cypher statement. `truncated` is True if there may be more."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    truncated: bool = False

    def __repr__(self) -> str:
        more = ", more exist" if self.truncated else ""
        return f"<Table: {len(self.rows)} rows of {', '.join(self.columns)}{more}>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a data frame. Raises QueryError without pandas."""
        return frames.frame_of_rows(self.rows, self.columns)

    def _repr_html_(self) -> str:
        return frames.html_of_rows(self.rows, self.columns, caption=repr(self))


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What answers: its address, its version, and whether it is ready."""

    at: str
    version: str
    ready: bool
    checks: dict[str, Any] = {}


def _json(value: msgspec.Struct, *, keep_instants: bool = False) -> dict[str, Any]:
    """Return a result with the keys of the API."""
    kept = (datetime,) if keep_instants else ()
    return dict(msgspec.to_builtins(value, builtin_types=kept))


def _counts(nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> str:
    return f"{len(nodes)} nodes, {len(edges)} edges"


def _clip(text: str) -> str:
    return text if len(text) <= _TEXT_CHARACTERS_MAX else f"{text[: _TEXT_CHARACTERS_MAX - 1]}…"


def _drawn(
    nodes: list[dict[str, Any]], edges: list[dict[str, Any]], subject: str, caption: str
) -> str:
    """Return HTML with a picture of the nearest nodes."""
    from headwater.pictures.picture import svg

    drawn: Picture = picture_of(nodes[:_PICTURE_NODES_MAX], edges, subject)
    if len(nodes) > _PICTURE_NODES_MAX:
        caption = f"{caption} The picture shows the nearest {_PICTURE_NODES_MAX} nodes."
    return frames.html_picture(svg(drawn), caption)
