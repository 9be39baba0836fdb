"""What answers questions: an API, or the graph of a home behind one protocol.

A question is a GraphQL document in `headwater/client/documents`, for commands, the Python client
and the MCP server alike. An API answers it over HTTP; for a command in a home, the same schema
answers it in this process. So each question is written once. Three questions have paths of their
own: Cypher, the impact on code files, and evidence packs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    UnavailableError,
)

_ERRORS: dict[str, type[HeadwaterError]] = {
    "FORBIDDEN": ForbiddenError,
    "NOT_FOUND": NotFoundError,
    "TIMEOUT": UnavailableError,
    "UNAVAILABLE": UnavailableError,
    "INTERNAL": HeadwaterError,
}


class Rows(NamedTuple):
    """The rows of a Cypher statement; `truncated` if there may be more."""

    columns: list[str]
    rows: list[dict[str, Any]]
    truncated: bool


class Backend(Protocol):
    """What answers questions. Each method raises HeadwaterError."""

    def status(self) -> dict[str, Any]:
        """Return what answers: `at`, `version`, `ready`, and `checks` by name."""

    def ask(self, document: str, /, **variables: Any) -> dict[str, Any]:
        """Return the data of a document of `headwater/client/documents`."""

    def list_audits(self) -> list[dict[str, Any]]:
        """Return the audit queries: name, purpose, parameters and columns."""

    def run_audit(self, name: str, parameters: Mapping[str, Any]) -> Rows:
        """Run an audit query."""

    def run_statement(self, text: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a Cypher statement of the caller."""

    def assess(
        self,
        urn: str,
        changes: Sequence[Mapping[str, Any]],
        *,
        files: Mapping[str, str],
        dialect: str,
        include_stale: bool,
    ) -> dict[str, Any]:
        """Return the impact of changes to a dataset or job."""

    def count_waiting_events(self) -> int | None:
        """Return the number of accepted events that no question sees yet; None if it is unknown."""

    def evidence(self, urn: str, *, at: datetime, depth: int) -> dict[str, Any]:
        """Return a sealed evidence pack."""


@cache
def read_document(name: str) -> str:
    """Return the text of a document of `headwater/client/documents`."""
    file = files("headwater").joinpath(f"client/documents/{name}.graphql")
    return file.read_text(encoding="utf-8")


def data_of_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a GraphQL answer. Raises the error that its first error names."""
    for error in answer.get("errors") or ():
        extensions = error.get("extensions") or {}
        kind = _ERRORS.get(str(extensions.get("code")), QueryError)
        raise kind(str(error.get("message")), hint=str(extensions.get("hint") or ""))
    data = answer.get("data")
    if not isinstance(data, dict):
        raise UnavailableError(
            "the answer is not one of GraphQL: it has no data",
            hint="Check that the address is that of the API.",
        )
    return data
