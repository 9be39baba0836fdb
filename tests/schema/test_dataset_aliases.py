"""Aliases of one dataset, worked out by hand."""

from __future__ import annotations

from headwater.schema.dataset_aliases import alias_since, canonical_urns, linked_urns
from headwater.schema.facts import Assertion, DatasetFacts, LwwRegister, Name, Span

TABLE, PATH = Name("db", "t"), Name("file", "/t")


def path_with_symlink(last: int = 10, unlinked: int | None = None) -> DatasetFacts:
    """Return a path whose symlinks facet names the table."""
    symlinks = {"table": Assertion(TABLE, 5, last)}
    return DatasetFacts(PATH, Span(1, 10), symlinks=symlinks, unlinked=unlinked)


def test_a_symlink_joins_two_names_under_the_one_that_has_it() -> None:
    members = {"path": path_with_symlink(), "table": DatasetFacts(TABLE, Span(1, 10))}
    assert linked_urns(members["path"]) == {"table"}
    assert canonical_urns(members) == {"path": "path", "table": "path"}
    assert alias_since("path", members["path"], "table", members["table"]) == ("facet", 5)


def test_a_deleted_symlink_no_longer_joins() -> None:
    members = {"path": path_with_symlink(unlinked=10), "table": DatasetFacts(TABLE)}
    assert canonical_urns(members) == {"path": "path", "table": "table"}


def test_the_newest_decision_by_hand_overrides_a_symlink() -> None:
    apart = DatasetFacts(TABLE, by_hand={"path": LwwRegister(20, 0, "apart")})
    same = DatasetFacts(TABLE, by_hand={"path": LwwRegister(30, 0, "same")})
    path = path_with_symlink()
    assert alias_since("path", path, "table", apart) is None
    assert canonical_urns({"path": path, "table": apart}) == {"path": "path", "table": "table"}
    assert alias_since("path", path, "table", same) == ("manual", 30)
