"""What the gate asks a Headwater: which dataset a name is, what is known of it, and what changes would affect.

Whatever goes wrong on the way, a dead server, a proxy that answers HTML, a missing key, is a HeadwaterError: then the
change cannot be assessed, and the gate blocks.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.client import Headwater
from headwater.errors import UnavailableError

SEARCHED_MAX = 100
CHANGES_PER_QUESTION_MAX = 50
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Named:
    """A dataset that a search found."""

    urn: str
    namespace: str
    name: str


class Api:
    """A Headwater at `url`, asked with a key or without."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        self.url = url
        self._client = Headwater(url, api_key=api_key, timeout_seconds=TIMEOUT_SECONDS)

    def datasets(self, text: str) -> tuple[list[Named], bool]:
        """Datasets in whose name the words of a text occur, and whether there are more than were sent."""
        found = self._ask(_SEARCH, {"text": text, "first": SEARCHED_MAX})["search"]
        nodes = [edge["node"]["node"] for edge in found["edges"]]
        return [Named(node["urn"], node["namespace"], node["name"]) for node in nodes], found["pageInfo"]["hasNextPage"]

    def columns(self, urn: str) -> list[str]:
        """The columns that the graph knows of a dataset; none when nobody told."""
        found = self._ask(_COLUMNS, {"urn": urn})["dataset"]
        return [one["name"] for one in found["columns"]] if found else []

    def makers(self, urn: str) -> list[str]:
        """The jobs that make a dataset, as urns."""
        nodes = self._ask(_MAKERS, {"urn": urn})["lineage"]["nodes"]
        return [node["urn"] for node in nodes if node["kind"] == "JOB"]

    def _ask(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._client.ask(query, variables)
        except (ValueError, KeyError, TypeError, http.client.HTTPException) as error:
            message = f"{self.url} does not answer as a Headwater does: {type(error).__name__} {error}"
            raise UnavailableError(message, mend="Does --url name the API, and nothing in between?") from error
