"""The shape of the code: nested expressions, mirrored tests, import cycles."""

from __future__ import annotations

from itertools import chain

from scripts import code_metrics as metrics

NESTED_PER_THOUSAND_LINES_MAX = 0.5
MIRRORED_SHARE_MIN = 0.9
CYPHER_MODULES_MAX = 18


def places(count: str) -> list[str]:
    """Return the places of one count in the package."""
    names = metrics.tracked(".py", "headwater")
    found = [place for name in names for place in metrics.nested_expressions(name)]
    return [str(place) for place in found if place.count == count]


def test_comprehensions_are_hardly_ever_nested() -> None:
    lines = sum(
        len(metrics.read(name).splitlines()) for name in metrics.tracked(".py", "headwater")
    )
    nested = places("nested comprehension")
    assert 1000 * len(nested) / lines < NESTED_PER_THOUSAND_LINES_MAX, nested


def test_conditional_expressions_are_not_nested() -> None:
    assert places("nested condition") == []


def test_modules_have_a_test_file_at_the_same_place() -> None:
    missing = metrics.unmirrored()
    assert 1 - len(missing) / len(metrics.modules()) >= MIRRORED_SHARE_MIN, missing


def test_no_modules_import_each_other() -> None:
    assert metrics.import_cycle() == []


def test_lines_of_queries_are_short() -> None:
    # `statements` leaves out migrations: their text never changes once they are applied.
    long_lines = chain.from_iterable(map(metrics.long_lines, metrics.statements()))
    assert list(map(str, long_lines)) == []


def test_the_package_of_queries_stays_small() -> None:
    modules = [name for name in metrics.modules() if name.startswith("headwater/cypher/")]
    assert len(modules) <= CYPHER_MODULES_MAX
