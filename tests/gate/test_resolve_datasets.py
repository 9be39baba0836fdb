"""Which dataset a table is, on small graphs in memory, and what a branch resolves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headwater.code_analysis.tables import MODEL, TABLE, TableChange
from headwater.errors import QueryError
from headwater.gate.branch_fixes import BranchFixes
from headwater.gate.resolve_datasets import (
    DatasetChange,
    DatasetInfo,
    DatasetResolver,
    ResolutionOptions,
    SearchHit,
    is_certified,
    parse_map_options,
)
from headwater.gate.verdict import BREAKING, WARNING, Affected
from headwater.schema.urns import dataset_urn

PG = "postgres://shop:5432"


class Catalog:
    """What is known, by namespace and name; finds every name that ends so, as a search does and more."""

    def __init__(
        self, *names: tuple[str, str], known: DatasetInfo | None = None, cut: bool = False
    ) -> None:
        self.names = names
        self.what = known or DatasetInfo()
        self.cut = cut
        self.searched: list[str] = []

    def datasets(self, text: str) -> tuple[list[SearchHit], bool]:
        self.searched.append(text)
        named = [
            SearchHit(dataset_urn(*pair), *pair)
            for pair in self.names
            if text.lower() in pair[1].lower()
        ]
        return named, self.cut

    def known(self, urn: str) -> DatasetInfo:
        assert urn
        return self.what


def delta(relation: str, change: dict[str, Any] | None = None, **more: Any) -> TableChange:
    return TableChange(
        relation,
        MODEL,
        change or {"type": "column_drop", "column": "a"},
        f"dbt/models/{relation}.sql",
        1,
        **more,
    )


def found(
    estate: Catalog, relation: str, names: ResolutionOptions | None = None, **more: Any
) -> str | None:
    """The urn of the dataset, or nothing; what is uncertain is raised."""
    asked, problems, _ = DatasetResolver(estate, names or ResolutionOptions()).changes(
        [delta(relation, **more)]
    )
    assert not (asked and problems)
    if problems:
        assert "is in no lineage" in problems[0].message, problems
        return None
    return asked[0].urn if asked else None


def uncertain(estate: Catalog, relation: str, **more: Any) -> str:
    asked, problems, _ = DatasetResolver(estate, ResolutionOptions()).changes(
        [delta(relation, **more)]
    )
    assert asked == []
    return problems[0].message


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
    estate = Catalog(
        dataset or (PG, "shop.marts.orders"),
        (PG, "shop.marts.orders_v2"),
        (PG, "shop.marts.borders"),
    )
    assert found(estate, relation) == (dataset_urn(*dataset) if dataset else None)


def test_an_exact_name_comes_before_one_that_only_ends_so() -> None:
    estate = Catalog((PG, "orders"), (PG, "shop.marts.orders"))
    assert found(estate, "orders") == dataset_urn(PG, "orders")


def test_several_that_may_be_meant_are_named_and_none_is_taken() -> None:
    said = uncertain(Catalog((PG, "a.orders"), (PG, "b.orders")), "orders")
    assert dataset_urn(PG, "a.orders") in said
    assert dataset_urn(PG, "b.orders") in said
    assert "too many" in uncertain(Catalog((PG, "a.orders"), cut=True), "orders")


def test_a_dataset_with_a_shorter_name_may_be_another() -> None:
    assert "shorter name" in uncertain(Catalog(("file", "orders")), "staging.orders")


def test_a_namespace_a_word_or_the_manifest_tells_which() -> None:
    estate = Catalog((PG, "a.orders"), ("test://x", "b.orders"))
    assert found(estate, "orders", ResolutionOptions(namespaces=("postgres://*",))) == dataset_urn(
        PG, "a.orders"
    )
    said = dataset_urn("any", "thing")
    assert (
        found(estate, "orders", ResolutionOptions(said=parse_map_options([f"Orders={said}"])))
        == said
    )
    for manifest in ({"models/orders.sql": "b.orders"}, {"orders": "b.orders"}):
        assert found(estate, "orders", ResolutionOptions(manifest=manifest)) == dataset_urn(
            "test://x", "b.orders"
        )


@pytest.mark.parametrize("pair", ["orders", "=dataset:a:b", "orders=job:a:b", "orders=nonsense"])
def test_a_map_that_is_none_is_refused(pair: str) -> None:
    with pytest.raises(QueryError):
        parse_map_options([pair])


def test_what_the_branch_itself_creates_need_not_be_known() -> None:
    asked, problems, new = DatasetResolver(Catalog(), ResolutionOptions()).changes(
        [delta("fresh", is_new=True), delta("gone")]
    )
    assert (asked, [one.message.split()[0] for one in problems], new) == ([], ["gone"], ["fresh"])


def test_each_table_is_looked_up_once() -> None:
    estate = Catalog((PG, "orders"))
    DatasetResolver(estate, ResolutionOptions()).changes(
        [delta("orders"), delta("orders", {"type": "column_drop", "column": "b"})]
    )
    assert estate.searched == ["orders"]


def changes(known: DatasetInfo, **more: Any) -> list[dict[str, Any]]:
    asked, _, _ = DatasetResolver(
        Catalog((PG, "orders"), known=known), ResolutionOptions()
    ).changes([delta("orders", **more)])
    return [dict(one.change) for one in asked]


def test_a_deleted_model_is_its_job_or_else_its_table() -> None:
    deleted = {"type": "job_delete"}
    urn = dataset_urn(PG, "orders")
    assert changes(DatasetInfo(makers=("job:etl:m",)), change=deleted) == [
        {"type": "job_delete", "urn": "job:etl:m"}
    ]
    for makers in ((), ("job:etl:m", "job:etl:n")):
        assert changes(DatasetInfo(makers=makers), change=deleted) == [
            {"type": "table_drop", "urn": urn}
        ]


def test_columns_that_a_new_definition_lacks_are_dropped() -> None:
    redefined = {"type": "semantics_change", "description": "replaced"}
    got = changes(
        DatasetInfo(columns=("ID", "note", "note.text")), change=redefined, columns=("id", "extra")
    )
    assert [one["type"] for one in got] == ["semantics_change", "column_drop"]
    assert got[1]["column"] == "note"
    estate = Catalog((PG, "orders"))
    assert "nobody told" in uncertain(estate, "orders", change=redefined, columns=("id",))


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


URN, MART = dataset_urn(PG, "stg"), dataset_urn(PG, "mart")
READER = Affected("job:etl:mart", "JOB", "mart", BREAKING, ("amount",), (), outputs=(MART,))


def resolved(
    sql: str, change: dict[str, Any] | None = None, reader: Affected = READER
) -> tuple[Affected, ...]:
    """What `reader` is in a branch that drops stg.amount and has this SQL for mart."""
    drop = DatasetChange(
        delta("stg", change or {"type": "column_drop", "column": "amount"}),
        URN,
        change or {"type": "column_drop", "column": "amount"},
        makers=("job:etl:stg",),
    )
    other = DatasetChange(delta("mart"), MART, {"type": "semantics_change"})
    texts: dict[str | None, str | None] = {
        "dbt/models/mart.sql": sql,
        "dbt/models/stg.sql": "select id",
    }
    return BranchFixes([drop, other], texts).apply(drop, [reader])


@pytest.mark.parametrize(
    ("sql", "severity"),
    [
        ("select total from stg", WARNING),
        ("select amounts from stg", WARNING),
        ("select AMOUNT from stg", BREAKING),
        ("select * from stg", BREAKING),
    ],
)
def test_what_no_longer_names_the_column_does_not_break(sql: str, severity: str) -> None:
    (one,) = resolved(sql)
    assert one.severity == severity


def test_only_what_the_branch_changes_too_is_mended() -> None:
    (one,) = resolved(
        "select total from stg", reader=replace(READER, outputs=(MART, dataset_urn(PG, "more")))
    )
    assert one.severity == BREAKING
    (one,) = resolved("select total from stg", reader=replace(READER, outputs=()))
    assert one.severity == BREAKING
    (one,) = resolved(
        "select total from stg", {"type": "column_type_change", "column": "amount", "to": "int"}
    )
    assert one.severity == BREAKING


def test_what_makes_the_dataset_is_not_affected_by_its_own_change() -> None:
    maker = replace(READER, urn="job:etl:stg")
    assert resolved("select 1", reader=maker) == ()
    dropped = DatasetChange(
        replace(delta("stg"), made_by=TABLE),
        URN,
        {"type": "column_drop", "column": "a"},
        makers=("job:etl:stg",),
    )
    assert BranchFixes([dropped], {}).apply(dropped, [maker]) == (maker,)
