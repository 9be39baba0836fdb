"""Text search over the full-text index of names, descriptions, columns, tags and owners.

User text never reaches Lucene as syntax. It is split into words of letters, digits and underscores,
and each word becomes three clauses: the word, its prefix, and any substring. So no character can
cause a syntax error or act as an operator. A text that is a urn, a run id or an answer id finds
that node first, and a trace id the runs of the trace. Then come nodes with that name, nodes whose
name begins so, and the rest, each in the order of Lucene. Among nodes whose names match alike,
certified ones come first and deprecated ones last.

Filters are combined with AND. The counts beside the hits (`kinds`, `namespaces`, `tags`) cover all
hits of the text before filters, so they show how many hits a filter would keep. At most `HITS_MAX`
hits are examined, the best ones; `truncated` is True if there are more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_names import NodeName, kind_of
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import name_nodes, read_nodes, resolve_urn
from headwater.lineage.pagination import Page, cut_page, page_request
from headwater.lineage.questions.traces import find_trace
from headwater.lineage.view import GraphView
from headwater.schema.graph import NODE_KINDS
from headwater.schema.tags import has_tag
from headwater.schema.traces import valid_trace_id
from headwater.schema.urns import URN_BYTES_MAX, answer_urn, parse_urn, run_urn

SEARCH_MAX = 100
HITS_MAX = 2_000
VALUES_MAX = 50
TEXT_CHARACTERS_MAX = 500
WORDS_MAX = 8
# A longer word is cut to its prefix, because Lucene rejects a pattern of hundreds of characters.
WORD_CHARACTERS_MAX = 64
_WORD = re.compile(r"\w+")
# Hits up to this rank match by their names.
_NAME_RANK_MAX = 2
_CERTIFIED, _ORDINARY, _DEPRECATED = range(3)


@dataclass(frozen=True)
class Hit:
    """A node that matches the text.

    `rank` is 0 if the text is its urn or id, 1 if it is its name, 2 if its name begins so, and 3
    otherwise. Within a rank, the higher `score` comes first. `trust` is 0 for a certified node, 2
    for a deprecated one, and 1 otherwise; it comes before the score if the name matches.
    """

    node: NodeName
    rank: int
    score: float
    tags: tuple[str, ...]
    owners: tuple[str, ...]
    trust: int = 1


@dataclass(frozen=True)
class ValueCount:
    """A value and the number of hits that have it."""

    value: str
    count: int


@dataclass(frozen=True)
class SearchResult:
    """A page of hits, the number of hits after the filters, and counts before them."""

    page: Page[Hit]
    count: int
    truncated: bool
    kinds: list[ValueCount]
    namespaces: list[ValueCount]
    tags: list[ValueCount]


@dataclass(frozen=True)
class SearchFilters:
    """Conditions on hits; an empty one matches everything.

    `kind` is a kind of `NodeName`; `tag` is `key=value` or `key`, and a tag of a column counts for
    its dataset.
    """

    kind: str = ""
    namespace: str = ""
    tag: str = ""
    owner: str = ""

    def matches(self, hit: Hit) -> bool:
        """Return True if the hit meets every condition."""
        return (
            self.kind in ("", hit.node.kind)
            and self.namespace in ("", hit.node.namespace)
            and (not self.tag or any(_is_tag(self.tag, tag) for tag in hit.tags))
            and (not self.owner or self.owner in hit.owners)
        )


def _is_tag(filter: str, tag: str) -> bool:
    """Return True if a tag of a dataset, or of one of its columns (`column:tag`), matches.

    A tag sent as `certified=true` is stored as `certified`.
    """
    tags = (tag, tag.partition(":")[2])
    return any(filter in (one, f"{one}=true") or one.startswith(f"{filter}=") for one in tags)


def search(
    view: GraphView,
    text: str,
    *,
    filters: SearchFilters = SearchFilters(),
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> SearchResult:
    """Return the nodes that contain every word of the text.

    Raises QueryError for an unknown kind, a bad `first` or a bad cursor.
    """
    page = page_request(first, after, last, before, maximum=SEARCH_MAX)
    if filters.kind and filters.kind not in NODE_KINDS.values():
        raise QueryError(f"kind {filters.kind[:40]!r} is none of {', '.join(NODE_KINDS.values())}")
    hits, truncated = _find_hits(view, text.strip()[:TEXT_CHARACTERS_MAX])
    matching = [hit for hit in hits if filters.matches(hit)]
    shown = cut_page(matching, _order, page, shape=(0, 0, 0.0, 0, 0, ""))
    tags: list[str] = []
    for hit in hits:
        tags += set(hit.tags)
    return SearchResult(
        page=replace(shown, entries=_with_node_names(view, shown.entries)),
        count=len(matching),
        truncated=truncated,
        kinds=_count(hit.node.kind for hit in hits),
        namespaces=_count(hit.node.namespace for hit in hits if hit.node.namespace),
        tags=_count(tags),
    )


def lucene_query(text: str) -> str:
    """Return the text as a Lucene query that requires every word; "" if it has no word.

    A word may occur whole, as a prefix or as a substring.
    """
    words = [word.lower()[:WORD_CHARACTERS_MAX] for word in _WORD.findall(text)][:WORDS_MAX]
    return " AND ".join(f"({word}^8 OR {word}*^3 OR *{word}*)" for word in words)


def _order(hit: Hit) -> tuple[int, int, float, int, int, str]:
    """Return the place of a hit; the score decides first where only words match."""
    by_name = hit.trust if hit.rank <= _NAME_RANK_MAX else 0
    return hit.rank, by_name, -hit.score, hit.trust, len(hit.node.name), hit.node.urn


def _find_hits(view: GraphView, text: str) -> tuple[list[Hit], bool]:
    """Return all visible nodes that match a text, each once, and True if there are more."""
    if not text:
        return [], False
    query = lucene_query(text)
    rows: list[Row] = []
    if query:
        rows = view.read(
            "read/catalog/search",
            query=query,
            text=text,
            visible=view.visibility.regexes,
            limit=HITS_MAX + 1,
        )
    answers = [row["urn"] for row in rows[:HITS_MAX] if row["label"] == "Answer"]
    visible_answers = set(select_visible(view, answers))
    exact = read_nodes(view, [*_exact_urns(view, text), *_runs_of_trace(view, text)])
    hits = {urn: _exact_hit(urn, row) for urn, row in exact.items()}
    for row in rows[:HITS_MAX]:
        if row["label"] != "Answer" or row["urn"] in visible_answers:
            hits.setdefault(row["urn"], _hit(row))
    return list(hits.values()), len(rows) > HITS_MAX


def _exact_hit(urn: str, row: Row) -> Hit:
    """Return the hit of a node whose urn or id is the text, from the properties of the node."""
    name = row.get("name") or row.get("pipelineName") or row.get("answerId") or row["urn"]
    described = {key: row.get(key) for key in ("namespace", "tags", "owners")}
    deprecated = row.get("deprecatedAt") is not None
    return _hit(
        {"urn": urn, "name": name, "rank": 0, "score": 0.0, "deprecated": deprecated, **described}
    )


def _hit(row: Row) -> Hit:
    return Hit(
        node=NodeName(row["urn"], kind_of(row["urn"]), row["namespace"], row["name"]),
        rank=row["rank"],
        score=row["score"],
        tags=tuple(row["tags"] or ()),
        owners=tuple(row["owners"] or ()),
        trust=_trust(row),
    )


def _trust(row: Row) -> int:
    tags = row["tags"] or ()
    if row["deprecated"] or has_tag(tags, "deprecated"):
        return _DEPRECATED
    return _CERTIFIED if has_tag(tags, "certified", "canonical") else _ORDINARY


def _with_node_names(view: GraphView, hits: list[Hit]) -> list[Hit]:
    """Return the hits of one page with the display names of their nodes."""
    names = name_nodes(view, [hit.node.urn for hit in hits])
    return [replace(hit, node=node) for hit, node in zip(hits, names, strict=True)]


def _count(values: Iterable[str]) -> list[ValueCount]:
    """Count equal values; return the most frequent first, then by value."""
    counted = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return [ValueCount(value, count) for value, count in counted[:VALUES_MAX]]


def _runs_of_trace(view: GraphView, text: str) -> list[str]:
    """Return the runs that name the text as their trace."""
    return find_trace(view, text).runs if valid_trace_id(text) else []


def _exact_urns(view: GraphView, text: str) -> list[str]:
    """Return the urns that a text may spell or name by an id."""
    urns = [answer_urn(text), resolve_urn(view, run_urn(text))]
    try:
        parse_urn(text)
    except QueryError:
        return urns
    return [text, *urns] if len(text) <= URN_BYTES_MAX else urns
