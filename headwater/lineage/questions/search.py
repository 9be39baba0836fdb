"""Search by text, over the full-text index of names, descriptions, columns, tags and owners.

What a user types never reaches Lucene as syntax: it is cut into words of letters, digits and underscores, and each
word becomes three clauses (the word itself, its beginning, any part), so no character can be an error or an
operator. A text that is itself a urn, a run id or the id of an answer finds that node first; then what is called so,
what is called so at its beginning, and the rest, each as Lucene ranks them.

SearchFilters are joined by and. The counts beside the hits (`kinds`, `namespaces`, `tags`) are of all that the text finds,
before any filter, so that they tell what a filter would leave. At most `HITS_MAX` hits are looked at, the best ones;
`truncated` tells that there are more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.node_names import NodeName, kind_of
from headwater.lineage.node_visibility import visible
from headwater.lineage.nodes import name_nodes, read_nodes
from headwater.lineage.pagination import Page, page
from headwater.lineage.view import GraphView
from headwater.schema.graph import NODE_KINDS
from headwater.schema.urns import URN_BYTES_MAX, answer_urn, parse_urn, run_urn

SEARCH_MAX = 100
HITS_MAX = 2_000
VALUES_MAX = 50
TEXT_CHARACTERS_MAX = 500
WORDS_MAX = 8
# A longer word is searched for by its beginning: Lucene gives up on a pattern of hundreds of characters.
WORD_CHARACTERS_MAX = 64
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Hit:
    """One node that was found. `rank` 0: the text is its urn or id; 1: its name; 2: the beginning of its name; 3: the
    text is somewhere in it. Within a rank the higher `score` comes first."""

    node: NodeName
    rank: int
    score: float
    tags: tuple[str, ...]
    owners: tuple[str, ...]


@dataclass(frozen=True)
class ValueCount:
    """So many of the hits have this value."""

    value: str
    count: int


@dataclass(frozen=True)
class SearchResult:
    """A page of hits, how many hits there are after the filters, and counts of those before them, most first."""

    page: Page[Hit]
    count: int
    truncated: bool
    kinds: list[ValueCount]
    namespaces: list[ValueCount]
    tags: list[ValueCount]


@dataclass(frozen=True)
class SearchFilters:
    """What hits must be; an empty one asks for nothing. `kind` as in `NodeName`; `tag` as `key=value` or `key`."""

    kind: str = ""
    namespace: str = ""
    tag: str = ""
    owner: str = ""

    def keep(self, hit: Hit) -> bool:
        return (
            self.kind in ("", hit.node.kind)
            and self.namespace in ("", hit.node.namespace)
            and (
                not self.tag
                or any(
                    self.tag in (tag, f"{tag}=true") or tag.startswith(f"{self.tag}=")
                    for tag in hit.tags
                )
            )
            and (not self.owner or self.owner in hit.owners)
        )


def _is_tag(asked: str, tag: str) -> bool:
    """What was sent as `certified=true` stands as `certified`."""
    return asked in (tag, f"{tag}=true") or tag.startswith(f"{asked}=")


def search(
    view: GraphView,
    text: str,
    *,
    filters: SearchFilters = SearchFilters(),
    first: int = 20,
    after: str | None = None,
) -> SearchResult:
    """Nodes that hold every word of the text. Raises QueryError for a bad kind, `first` or cursor."""
    if not 0 <= first <= SEARCH_MAX:
        raise QueryError(f"first {first} is not between 0 and {SEARCH_MAX}")
    if filters.kind and filters.kind not in NODE_KINDS.values():
        raise QueryError(f"kind {filters.kind[:40]!r} is none of {', '.join(NODE_KINDS.values())}")
    hits, truncated = _hits(view, text.strip()[:TEXT_CHARACTERS_MAX])
    kept = [hit for hit in hits if filters.keep(hit)]
    shown = page(kept, _order, first=first, after=after, shape=(0, 0.0, 0, ""))
    return SearchResult(
        page=replace(shown, entries=_named(view, shown.entries)),
        count=len(kept),
        truncated=truncated,
        kinds=_count(hit.node.kind for hit in hits),
        namespaces=_count(hit.node.namespace for hit in hits if hit.node.namespace),
        tags=_count(tag for hit in hits for tag in set(hit.tags)),
    )


def lucene_query(text: str) -> str:
    """The text as a Lucene query: every word must occur, whole, as a beginning or as a part; "" when it has none."""
    words = [word.lower()[:WORD_CHARACTERS_MAX] for word in _WORD.findall(text)][:WORDS_MAX]
    return " AND ".join(f"({word}^8 OR {word}*^3 OR *{word}*)" for word in words)


def _order(hit: Hit) -> tuple[int, float, int, str]:
    return hit.rank, -hit.score, len(hit.node.name), hit.node.urn


def _hits(view: GraphView, wanted: str) -> tuple[list[Hit], bool]:
    """Everything that a text finds and that may be seen, each node once, and whether there is more."""
    if not wanted:
        return [], False
    query = lucene_query(wanted)
    sees = view.visibility.regexes
    rows = (
        view.read("read/catalog/search", query=query, text=wanted, sees=sees, limit=HITS_MAX + 1)
        if query
        else []
    )
    exact = read_nodes(view, _exactly(wanted))
    seen = set(visible(view, [row["urn"] for row in rows[:HITS_MAX] if row["label"] == "Answer"]))
    hits = {
        urn: _hit({"urn": urn, "rank": 0, "score": 0.0, **_described(row)})
        for urn, row in exact.items()
    }
    for row in rows[:HITS_MAX]:
        if row["label"] != "Answer" or row["urn"] in seen:
            hits.setdefault(row["urn"], _hit(row))
    return list(hits.values()), len(rows) > HITS_MAX


def _described(row: Row) -> Row:
    name = row.get("name") or row.get("pipelineName") or row.get("answerId") or row["urn"]
    return {"name": name, **{key: row.get(key) for key in ("namespace", "tags", "owners")}}


def _hit(row: Row) -> Hit:
    node = NodeName(row["urn"], kind_of(row["urn"]), row["namespace"], row["name"])
    return Hit(
        node, row["rank"], row["score"], tuple(row["tags"] or ()), tuple(row["owners"] or ())
    )


def _named(view: GraphView, hits: list[Hit]) -> list[Hit]:
    """With the names that nodes have everywhere: those of the page alone are looked up."""
    names = name_nodes(view, [hit.node.urn for hit in hits])
    return [replace(hit, node=node) for hit, node in zip(hits, names, strict=True)]


def _count(values: Iterable[str]) -> list[ValueCount]:
    counted = sorted(Counter(values).items(), key=lambda one: (-one[1], one[0]))
    return [ValueCount(value, count) for value, count in counted[:VALUES_MAX]]


def _exactly(text: str) -> list[str]:
    urns = [answer_urn(text), run_urn(text)]
    try:
        parse_urn(text)
    except QueryError:
        return urns
    return [text, *urns] if len(text) <= URN_BYTES_MAX else urns
