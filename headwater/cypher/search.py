"""Search by name, over the full-text index.

What a user types never reaches Lucene as syntax: it is cut into words of letters, digits and underscores, and each
word becomes three clauses (the word itself, its beginning, any part), so no character can be an error or an
operator. A text that is itself a urn, a run id or the id of an answer finds that node first.
"""

from __future__ import annotations

import re

from headwater.cypher.database import Database
from headwater.cypher.nodes import NodeName, name_nodes, read_nodes
from headwater.errors import QueryError
from headwater.schema.urns import URN_BYTES_MAX, answer_urn, parse_urn, run_urn

SEARCH_MAX = 100
TEXT_CHARACTERS_MAX = 500
WORDS_MAX = 8
# A longer word is searched for by its beginning: Lucene gives up on a pattern of hundreds of characters.
WORD_CHARACTERS_MAX = 64
_WORD = re.compile(r"\w+")


def search(database: Database, text: str, *, first: int = 20) -> list[NodeName]:
    """Nodes whose name holds every word of the text; exact names first."""
    if not 0 <= first <= SEARCH_MAX:
        raise QueryError(f"first {first} is not between 0 and {SEARCH_MAX}")
    wanted = text.strip()[:TEXT_CHARACTERS_MAX]
    if not wanted or not first:
        return []
    urns = list(read_nodes(database, _exactly(wanted)))
    query = lucene_query(wanted)
    if query:
        urns.extend(row["urn"] for row in database.read("read/search", query=query, text=wanted, limit=first))
    return name_nodes(database, list(dict.fromkeys(urns))[:first])


def lucene_query(text: str) -> str:
    """The text as a Lucene query: every word must occur, whole, as a beginning or as a part; "" when it has none."""
    words = [word.lower()[:WORD_CHARACTERS_MAX] for word in _WORD.findall(text)][:WORDS_MAX]
    return " AND ".join(f"({word}^8 OR {word}*^3 OR *{word}*)" for word in words)


def _exactly(text: str) -> list[str]:
    urns = [answer_urn(text), run_urn(text)]
    try:
        parse_urn(text)
    except QueryError:
        return urns
    return [text, *urns] if len(text) <= URN_BYTES_MAX else urns
