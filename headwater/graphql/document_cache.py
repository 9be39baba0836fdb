"""Documents that were answered before are neither parsed nor validated again: both together took more time than most
small questions have. What may be asked (`headwater.graphql.query_limits`) is judged every time, since variables tell too.

What is kept is bounded, the longest unused goes first, and only what is valid is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator

from graphql import DocumentNode
from strawberry.extensions import SchemaExtension

# A parsed document takes some hundred times the room of its text.
KEPT_CHARACTERS_MAX = 100_000


class Documents:
    """Valid documents by their text. For one event loop: it is not locked."""

    def __init__(self, characters_max: int = KEPT_CHARACTERS_MAX) -> None:
        self._characters_max = characters_max
        self._left = characters_max
        self._kept: OrderedDict[str, DocumentNode] = OrderedDict()

    def known(self, text: str) -> DocumentNode | None:
        found = self._kept.get(text)
        if found is not None:
            self._kept.move_to_end(text)
        return found

    def put(self, text: str, document: DocumentNode) -> None:
        if text in self._kept or len(text) > self._characters_max:
            return
        self._kept[text] = document
        self._left -= len(text)
        while self._left < 0:
            gone, _ = self._kept.popitem(last=False)
            self._left += len(gone)


class Remembered(SchemaExtension):
    """Takes what is known of a document; comes after those that refuse one before it is validated."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        context.graphql_document = self._documents.known(context.query or "")
        yield

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        text, document = context.query or "", context.graphql_document
        is_known = document is not None and self._documents.known(text) is document
        if is_known and context.pre_execution_errors is None:
            context.pre_execution_errors = []
        yield
        if document is not None and not is_known and not context.pre_execution_errors:
            self._documents.put(text, document)


def remembered(documents: Documents) -> Callable[[], Remembered]:
    """One of them for every request."""
    return lambda: Remembered(documents)
