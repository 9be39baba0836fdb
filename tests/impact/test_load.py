"""Dependency models from rows of the graph and from files."""

from __future__ import annotations

import pytest

from headwater import bounded_process
from headwater.code_analysis.files import CodeFile, read_file
from headwater.code_analysis.model import References
from headwater.errors import QueryError
from headwater.impact.load import columns_in, load_model, load_writers
from headwater.impact.model import DependencyModel, Table
from headwater.lineage.questions.downstream import DownstreamGraph
from tests.code_analysis.slow_code import SLOW_SQL
from tests.run_builders import ds, job


def downstream(sql: str = "select x from t") -> DownstreamGraph:
    """Return a graph in which job j reads t and makes o; an unknown job makes p of o."""
    down = DownstreamGraph()
    down.rows = {
        ds("t"): {"name": "t", "columns": ["x"]},
        ds("o"): {"name": "o"},
        ds("p"): {"name": "p"},
        job("j"): {"name": "j", "sql": sql, "codePath": "repo/jobs/j.sql"},
    }
    down.reads[ds("t")] = [job("j"), ds("o")]
    down.reads[ds("o")] = [ds("p")]
    down.outputs[job("j")] = {ds("o"): None}
    down.inputs[job("j")] = [ds("t")]
    down.writers[ds("o")] = [job("j")]
    return down


def load(codes: list[CodeFile] | None = None, hidden: set[str] | None = None) -> DependencyModel:
    down = downstream()
    return load_model(lambda _: {}, down, {ds("t"): ["old"]}, codes or [], hidden or set())


def test_consumers_of_tables() -> None:
    model = load()
    (reader,) = model.consumers[ds("t")]
    assert (reader.urn, list(reader.outputs)) == (job("j"), [ds("o")])
    assert reader.code is not None
    assert [one.column for one in reader.code.read] == ["x"]
    (consumer,) = model.consumers[ds("o")]
    assert (consumer.urn, consumer.kind) == (ds("p"), "DATASET")


def test_a_changed_column_counts_as_a_column() -> None:
    assert load().table(ds("t")).columns == ("x", "old")
    assert load().table(ds("o")).columns is None


def test_a_file_is_the_code_of_the_job_with_its_path_or_output() -> None:
    for path in ("jobs/j.sql", "models/o.sql"):
        code = read_file(path, "select y from t")
        (reader,) = load([code]).consumers[ds("t")]
        assert reader.path == path
        assert reader.code == code.references


def test_any_other_file_is_a_consumer_that_makes_a_new_table() -> None:
    model = load([read_file("models/new.sql", "select x from t")])
    file = model.consumers[ds("t")][-1]
    assert (file.urn, file.kind) == ("file:models/new.sql", "FILE")
    assert list(file.outputs) == ["table:new"]
    assert model.table("table:new").name == "new"


def test_files_never_match_hidden_tables() -> None:
    code = read_file("models/new.sql", "select x from t")
    model = load([code], {ds("t")})
    assert [one.urn for one in model.consumers[ds("t")]] == [job("j")]


def test_writers_of_a_dataset() -> None:
    model = load()
    writers = load_writers(model, downstream(), [], set())
    assert [one.urn for one in writers[ds("o")]] == [job("j")]


def test_columns_of_the_one_table_that_a_name_can_mean() -> None:
    look_up = columns_in([Table(ds("a.t"), "a.t", ("x",)), Table(ds("b.t"), "b.t", ("y",))])
    assert look_up(("a", "t")) == ["x"]
    assert look_up(("t",)) is None
    assert look_up(("z",)) is None


def test_code_that_takes_too_long_is_unknown_for_its_job_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded_process, "CPU_SECONDS_MAX", 0)
    down = downstream(SLOW_SQL)
    down.rows[job("k")] = {"name": "k", "sourceCode": "select x from t", "language": "sql"}
    down.reads[ds("t")].append(job("k"))
    model = load_model(lambda _: {}, down, {}, [], set())
    codes = {one.urn: one.code for one in model.consumers[ds("t")]}
    slow, quick = codes[job("j")], codes[job("k")]
    assert slow is not None
    assert slow.unknown == ("it takes more than 0 s of processor time",)
    assert quick is not None
    assert [one.column for one in quick.read] == ["x"]


def test_files_that_may_read_a_million_tables_are_refused() -> None:
    tables = [(f"s{number}", "z") for number in range(1_100)]
    codes = [
        CodeFile(f"{number}.sql", frozenset({table}), References(tables=frozenset({("z",)})))
        for number, table in enumerate(tables)
    ]
    with pytest.raises(QueryError, match="may mean more than 1000000 tables") as refusal:
        load(codes)
    assert "write the names of tables in full" in refusal.value.hint
