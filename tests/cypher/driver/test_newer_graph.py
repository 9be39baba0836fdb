"""The refusal of a newer graph: by the numbers of its migrations, whatever their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headwater.cypher.driver.newer_graph import refuse_newer
from headwater.cypher.migrate import migrations
from headwater.errors import NewerVersionError

NEWEST = migrations()[-1].name


def reader(*names: str) -> Callable[..., list[dict[str, Any]]]:
    def read(query: str, /, *, name: str) -> list[dict[str, Any]]:
        assert (query, name) == ("read/state/migrations_after", NEWEST)
        return [{"name": one} for one in names]

    return read


@pytest.mark.parametrize("names", [(), (f"{NEWEST}_renamed",), ("migrations/notes",)])
def test_a_graph_without_a_higher_number_is_accepted(names: tuple[str, ...]) -> None:
    refuse_newer(reader(*names))


def test_the_newest_migration_is_named() -> None:
    with pytest.raises(NewerVersionError, match=f"to migrations/9999_b; .* up to {NEWEST}"):
        refuse_newer(reader("migrations/9998_a", "migrations/9999_b"))
