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


TEAM_A, BOTH = '["a"]', '["a","b"]'
B_TABLE, A_PATH, A_OTHER = Name("b", "table"), Name("a", "path"), Name("a", "other")


def named(name: Name, *others: tuple[str, Name], by: str = BOTH) -> DatasetFacts:
    symlinks = {urn: Assertion(other, 5, 5) for urn, other in others}
    return DatasetFacts(name, Span(1, 10), symlinks=symlinks, linked_by={by} if others else set())


def shared(path: DatasetFacts) -> dict[str, DatasetFacts]:
    """Return a table of team B whose location a key of both teams declared, and that location."""
    return {
        "table": named(B_TABLE, ("path", A_PATH)),
        "path": path,
        "other": DatasetFacts(A_OTHER),
    }


def test_a_key_of_one_team_takes_no_name_of_another() -> None:
    own = named(A_PATH, ("other", A_OTHER), by=TEAM_A)
    canonical = canonical_urns(shared(own))
    assert [canonical[urn] for urn in ("table", "path", "other")] == ["table"] * 3
    by_both = named(A_PATH, ("other", A_OTHER))
    assert canonical_urns(shared(by_both))["table"] == "path", "the first of two that count alike"


def test_symlinks_without_a_sender_are_of_unrestricted_keys() -> None:
    own = named(A_PATH, ("other", A_OTHER), by=TEAM_A)
    members = shared(own) | {
        "table": DatasetFacts(B_TABLE, Span(1, 9), symlinks={"path": Assertion(A_PATH, 1, 1)})
    }
    assert canonical_urns(members)["path"] == "table"


def test_a_key_deletes_no_symlink_to_a_name_that_it_does_not_cover() -> None:
    def path(sender: str) -> DatasetFacts:
        facts = named(A_PATH, ("table", B_TABLE))
        facts.unlinked_by = {sender: 20}
        return facts

    members = {"path": path(TEAM_A), "table": DatasetFacts(B_TABLE)}
    assert canonical_urns(members) == {"path": "path", "table": "path"}
    assert canonical_urns({**members, "path": path(BOTH)}) == {"path": "path", "table": "table"}
    assert canonical_urns({**members, "path": path('["*"]')}) == {"path": "path", "table": "table"}
