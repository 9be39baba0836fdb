"""Inventories in CSV: what is read, and errors that name the line and the column."""

from __future__ import annotations

import io

import pytest

from headwater.errors import QueryError
from headwater.importers.inventory.assets import Asset
from headwater.importers.inventory.csv_file import read_csv
from headwater.importers.report import ImportReport


def read(text: str) -> tuple[list[Asset], list[tuple[str, str]]]:
    report = ImportReport()
    assets = list(read_csv(io.StringIO(text, newline=""), "a.csv", report))
    return assets, [(one.place, one.reason) for one in report.problems]


def test_assets_with_all_columns_in_any_order() -> None:
    text = (
        "owner,name,namespace,type,description\n"
        'ann; bob,shop.orders,postgres://db:5432,table,"Orders, paid"\n'
        "\n"
        ",shop.lines,postgres://db:5432,,\n"
    )
    assert read(text) == (
        [
            Asset("postgres://db:5432", "shop.orders", "TABLE", ("ann", "bob"), "Orders, paid"),
            Asset("postgres://db:5432", "shop.lines"),
        ],
        [],
    )


def test_a_bad_line_is_named_and_the_others_are_read() -> None:
    assets, problems = read("namespace,name\ndb,a\n,b\ndb,c,d\ndb,e\n")
    assert [asset.name for asset in assets] == ["a", "e"]
    assert problems == [
        ("a.csv:3", "the column `namespace` is empty"),
        ("a.csv:4", "3 columns, but the header has 2"),
    ]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "a.csv:1: the column `namespace` is missing"),
        ("namespace,type", "a.csv:1: the column `name` is missing"),
        ("namespace,name,team", "a.csv:1: `team` is an unknown column"),
        ("namespace,name,name", "a.csv:1: the column `name` occurs twice"),
    ],
)
def test_a_wrong_header_is_refused(header: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as refused:
        read(f"{header}\ndb,a\n")
    assert "namespace,name,type,owner,description" in refused.value.hint


def test_an_open_quote_ends_the_reading() -> None:
    assets, [(place, _)] = read('namespace,name\ndb,a\ndb,"b\n')
    assert [asset.name for asset in assets] == ["a"]
    assert place == "a.csv:3"
