"""Sessions: temporary tables are traced through, and what was rolled back is left out."""

from __future__ import annotations

from headwater.code_analysis.sql.script import read_script
from headwater.importers.sql.names import NameRules
from headwater.importers.sql.session import Session, Write

RULES = NameRules("db", "postgres", "shop")


def run(text: str, session: Session | None = None) -> list[Write]:
    session = session or Session(RULES, {})
    writes = [write for one in read_script(text, "postgres") for write in session.run(one)]
    return [*writes, *session.end()]


def inputs(write: Write) -> set[str]:
    return {name for _, name in write.inputs}


def origins(write: Write) -> dict[str, set[str]]:
    return {
        column: {f"{name}.{field}" for (_, name), field in sources}
        for column, sources in write.direct.items()
    }


def test_a_temporary_table_is_traced_to_what_filled_it() -> None:
    (write,) = run(
        """create temp table a as select id, amount * 2 as double from raw.orders where day > 1;
        create temp table b as select * from a;
        insert into b select id, price from raw.returns;
        insert into mart.t (id, total) select id, double from b;"""
    )
    assert write.target == ("db", "shop.mart.t")
    assert inputs(write) == {"shop.raw.orders", "shop.raw.returns"}
    assert origins(write) == {
        "id": {"shop.raw.orders.id", "shop.raw.returns.id"},
        "total": {"shop.raw.orders.amount", "shop.raw.returns.price"},
    }
    assert {f"{name}.{field}" for (_, name), field in write.indirect} == {"shop.raw.orders.day"}


def test_a_temporary_table_hides_a_table_of_its_name_in_its_session_only() -> None:
    text = "insert into mart.t select id from orders"
    (hidden,) = run(f"create temp table orders as select id from raw.o; {text}")
    assert inputs(hidden) == {"shop.raw.o"}
    (other,) = run(text)
    assert inputs(other) == {"shop.public.orders"}
    _, after = run(
        f"create temp table orders as select id from raw.o; {text}; drop table orders; {text}"
    )
    assert inputs(after) == {"shop.public.orders"}


def test_what_was_rolled_back_was_not_written() -> None:
    writes = run(
        """begin; insert into a select x from b; rollback;
        begin; insert into c select x from d; commit;
        begin; insert into e select x from f;"""
    )
    assert [write.target for write in writes] == [("db", "shop.public.c"), ("db", "shop.public.e")]


def test_a_statement_that_changes_rows_does_not_read_its_own_table() -> None:
    update, merge, again = run(
        """update t set a = b.x, n = t.n + 1 from b where b.id = t.id;
        merge into t using s on t.id = s.id when matched then update set v = s.v;
        insert into t select a from t;"""
    )
    assert (inputs(update), origins(update)) == (
        {"shop.public.b"},
        {"a": {"shop.public.b.x"}},
    )
    assert inputs(merge) == {"shop.public.s"}
    assert inputs(again) == {"shop.public.t"}


def test_columns_of_defined_tables_are_known() -> None:
    *_, write = run(
        """create table raw.o (id int, amount int); create table raw.p (id int, paid int);
        insert into t select o.*, paid from raw.o join raw.p using (id);"""
    )
    assert origins(write) == {
        "id": {"shop.raw.o.id"},
        "amount": {"shop.raw.o.amount"},
        "paid": {"shop.raw.p.paid"},
    }


def test_names_behind_a_star_keep_their_case() -> None:
    session = Session(NameRules("db", "snowflake", "SHOP", "RAW"), {})
    text = 'create table o (id int, "Day" date); insert into t select * from o;'
    writes = [write for one in read_script(text, "snowflake") for write in session.run(one)]
    assert origins(writes[-1]) == {"ID": {"SHOP.RAW.O.ID"}, "Day": {"SHOP.RAW.O.Day"}}


def test_the_target_of_an_update_may_be_an_alias() -> None:
    session = Session(RULES, {})
    text = "update t set t.a = s.b from dbo.orders t join dbo.s s on t.id = s.id"
    (write,) = [write for one in read_script(text, "tsql") for write in session.run(one)]
    assert write.target == ("db", "shop.dbo.orders")
    assert (inputs(write), origins(write)) == ({"shop.dbo.s"}, {"a": {"shop.dbo.s.b"}})


def test_a_column_of_several_possible_tables_has_no_origin() -> None:
    (write,) = run("insert into t select amount from a join b on a.id = b.id")
    assert (inputs(write), origins(write)) == ({"shop.public.a", "shop.public.b"}, {})


def test_a_drop_of_a_table_that_may_not_exist_is_left_out() -> None:
    writes = run(
        "drop table if exists a; drop table b; create table c (x int); drop table if exists c;"
    )
    assert [(write.lifecycle, write.target) for write in writes] == [
        ("DROP", ("db", "shop.public.b")),
        ("CREATE", ("db", "shop.public.c")),
        ("DROP", ("db", "shop.public.c")),
    ]


def test_the_schema_in_use() -> None:
    (write,) = run("set search_path to raw; insert into mart.t select a from orders")
    assert inputs(write) == {"shop.raw.orders"}
