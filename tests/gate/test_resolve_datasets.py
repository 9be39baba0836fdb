"""The dataset of each table, on small graphs in memory."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.code_analysis.model import MODEL, TableChange
from headwater.errors import QueryError
from headwater.gate.resolve_datasets import (
    DatasetInfo,
    DatasetResolver,
    ResolutionOptions,
    ResolvedChanges,
    SearchHit,
    is_certified,
    parse_map_options,
)
from headwater.schema.urns import dataset_urn

PG = "postgres://shop:5432"


class Catalog:
    """Datasets by namespace and name; the search finds every name that contains the text."""

    def __init__(
        self, *names: tuple[str, str], known: DatasetInfo | None = None, cut: bool = False
    ) -> None:
        self.names = names
        self.info = known or DatasetInfo()
        self.cut = cut
        self.searched: list[str] = []

    def search_datasets(self, text: str) -> tuple[list[SearchHit], bool]:
        self.searched.append(text)
        named = [
            SearchHit(dataset_urn(*pair), *pair)
            for pair in self.names
            if text.lower() in pair[1].lower()
        ]
        return named, self.cut

    def dataset_info(self, urn: str) -> DatasetInfo:
        assert urn
        return self.info


def table_change(table: str, change: dict[str, Any] | None = None, **more: Any) -> TableChange:
    return TableChange(
        table,
        MODEL,
        change or {"type": "column_drop", "column": "a"},
        f"dbt/models/{table}.sql",
        1,
        **more,
    )


def resolve(
    catalog: Catalog, *changes: TableChange, options: ResolutionOptions | None = None
) -> ResolvedChanges:
    return DatasetResolver(catalog, options or ResolutionOptions()).resolve(changes)


def resolved_urn(
    catalog: Catalog, table: str, options: ResolutionOptions | None = None
) -> str | None:
    """Return the urn of the dataset, or None for a table in no lineage."""
    resolved = resolve(catalog, table_change(table), options=options)
    assert not (resolved.changes and resolved.problems)
    if resolved.problems:
        assert "is in no lineage" in resolved.problems[0].message, resolved.problems
        return None
    return resolved.changes[0].urn if resolved.changes else None


def ambiguity(catalog: Catalog, table: str, **fields: Any) -> str:
    """Return the problem with a table that may be several datasets."""
    resolved = resolve(catalog, table_change(table, **fields))
    assert resolved.changes == []
    return resolved.problems[0].message


@pytest.mark.parametrize(
    ("relation", "dataset"),
    [
        ("orders", (PG, "shop.marts.orders")),
        ("marts.orders", (PG, "shop.marts.orders")),
        ("SHOP.MARTS.ORDERS", (PG, "shop.marts.orders")),
        ("s3://lake/orders", ("s3://lake", "orders")),
        ("s3://lake/marts/orders", ("s3://lake", "marts/orders")),
        ("staging.orders", None),
        ("rders", None),
        ("orders_old", None),
    ],
)
def test_a_table_by_part_of_its_name(relation: str, dataset: tuple[str, str] | None) -> None:
    catalog = Catalog(
        dataset or (PG, "shop.marts.orders"),
        (PG, "shop.marts.orders_v2"),
        (PG, "shop.marts.borders"),
    )
    assert resolved_urn(catalog, relation) == (dataset_urn(*dataset) if dataset else None)


def test_an_exact_name_comes_before_one_that_only_ends_so() -> None:
    catalog = Catalog((PG, "orders"), (PG, "shop.marts.orders"))
    assert resolved_urn(catalog, "orders") == dataset_urn(PG, "orders")


def test_several_that_may_be_meant_are_named_and_none_is_taken() -> None:
    problem = ambiguity(Catalog((PG, "a.orders"), (PG, "b.orders")), "orders")
    assert dataset_urn(PG, "a.orders") in problem
    assert dataset_urn(PG, "b.orders") in problem
    assert "too many" in ambiguity(Catalog((PG, "a.orders"), cut=True), "orders")


def test_a_dataset_with_a_shorter_name_may_be_another() -> None:
    assert "shorter name" in ambiguity(Catalog(("file", "orders")), "staging.orders")


def test_a_namespace_a_mapping_or_the_manifest_decides() -> None:
    catalog = Catalog((PG, "a.orders"), ("test://x", "b.orders"))
    assert resolved_urn(
        catalog, "orders", ResolutionOptions(namespaces=("postgres://*",))
    ) == dataset_urn(PG, "a.orders")
    urn = dataset_urn("any", "thing")
    assert (
        resolved_urn(
            catalog, "orders", ResolutionOptions(mapped=parse_map_options([f"Orders={urn}"]))
        )
        == urn
    )
    for manifest in ({"models/orders.sql": "b.orders"}, {"orders": "b.orders"}):
        assert resolved_urn(catalog, "orders", ResolutionOptions(manifest=manifest)) == dataset_urn(
            "test://x", "b.orders"
        )


@pytest.mark.parametrize("pair", ["orders", "=dataset:a:b", "orders=job:a:b", "orders=nonsense"])
def test_a_map_that_is_none_is_refused(pair: str) -> None:
    with pytest.raises(QueryError):
        parse_map_options([pair])


def test_a_table_that_the_branch_creates_need_not_exist() -> None:
    resolved = resolve(Catalog(), table_change("fresh", is_new=True), table_change("gone"))
    assert resolved.changes == []
    assert [one.message.split()[0] for one in resolved.problems] == ["gone"]
    assert resolved.new_tables == ["fresh"]


def test_each_table_is_looked_up_once() -> None:
    catalog = Catalog((PG, "orders"))
    resolve(
        catalog,
        table_change("orders"),
        table_change("orders", {"type": "column_drop", "column": "b"}),
    )
    assert catalog.searched == ["orders"]


def changes(known: DatasetInfo, **more: Any) -> list[dict[str, Any]]:
    resolved = resolve(Catalog((PG, "orders"), known=known), table_change("orders", **more))
    return [dict(one.change) for one in resolved.changes]


def test_a_deleted_model_is_its_job_or_else_its_table() -> None:
    deleted = {"type": "job_delete"}
    urn = dataset_urn(PG, "orders")
    assert changes(DatasetInfo(producers=("job:etl:m",)), change=deleted) == [
        {"type": "job_delete", "urn": "job:etl:m"}
    ]
    for producers in ((), ("job:etl:m", "job:etl:n")):
        assert changes(DatasetInfo(producers=producers), change=deleted) == [
            {"type": "table_drop", "urn": urn}
        ]


def test_columns_that_a_new_definition_lacks_are_dropped() -> None:
    redefined = {"type": "semantics_change", "description": "replaced"}
    got = changes(
        DatasetInfo(columns=("ID", "note", "note.text")), change=redefined, columns=("id", "extra")
    )
    assert [one["type"] for one in got] == ["semantics_change", "column_drop"]
    assert got[1]["column"] == "note"
    catalog = Catalog((PG, "orders"))
    assert "does not know its columns" in ambiguity(
        catalog, "orders", change=redefined, columns=("id",)
    )


@pytest.mark.parametrize(
    ("tags", "certified"),
    [
        (["certified"], True),
        (["Certified=gold"], True),
        (["canonical"], True),
        (["certified=false"], False),
        (["id:certified"], False),
        ([], False),
    ],
)
def test_tags_that_certify(tags: list[str], certified: bool) -> None:
    assert is_certified(tags) is certified
