"""Dependency models from rows of the graph and from files."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from headwater.code_analysis.files import NO_TIME, CodeFile, read_file
from headwater.code_analysis.model import References
from headwater.code_analysis.suffix_index import SuffixIndex
from headwater.errors import QueryError
from headwater.impact import read_source
from headwater.impact.load import _tables_read, columns_in, load_model
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
    changed = {ds("t"): ["old"]}
    return load_model(lambda _: {}, down, changed, codes or [], hidden or set(), math.inf)


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
    assert model.writers == {ds("o"): model.consumers[ds("t")]}


def test_columns_of_the_one_table_that_a_name_can_mean() -> None:
    look_up = columns_in([Table(ds("a.t"), "a.t", ("x",)), Table(ds("b.t"), "b.t", ("y",))])
    assert look_up(("a", "t")) == ["x"]
    assert look_up(("t",)) is None
    assert look_up(("z",)) is None


def test_code_that_takes_too_long_is_unknown_for_its_job_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_source, "CPU_SECONDS_MAX", 0)
    monkeypatch.setattr(read_source, "_cache", read_source.ResultCache(1_000_000))
    down = downstream(SLOW_SQL)
    down.rows[job("k")] = {"name": "k", "sourceCode": "select x from t", "language": "sql"}
    down.reads[ds("t")].append(job("k"))
    model = load_model(lambda _: {}, down, {}, [], set(), math.inf)
    codes = {one.urn: one.code for one in model.consumers[ds("t")]}
    slow, quick = codes[job("j")], codes[job("k")]
    assert slow is not None
    assert slow.unknown == ("it takes more than 0 s of processor time",)
    assert quick is not None
    assert [one.column for one in quick.read] == ["x"]


def test_hidden_jobs_are_read_in_their_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_source, "HIDDEN_SECONDS_MAX", 0.0)
    monkeypatch.setattr(read_source, "_cache", read_source.ResultCache(1_000_000))
    (reader,) = load(hidden={job("j")}).consumers[ds("t")]
    assert reader.code is not None
    assert reader.code.unknown == (NO_TIME,)
    (reader,) = load().consumers[ds("t")]
    assert reader.code is not None
    assert reader.code.unknown == ()


def test_jobs_with_the_same_files_share_their_code() -> None:
    down = downstream()
    for number in range(60):
        down.rows[job(f"j{number}")] = {"name": f"j{number}", "codePath": "m.py"}
        down.reads[ds("t")].append(job(f"j{number}"))
    codes = [read_file(f"d{number}/m.py", f"x = 'word{number}'") for number in range(20)]
    model = load_model(lambda _: {}, down, {}, codes, set(), math.inf)
    found = [one.code for one in model.consumers[ds("t")] if one.path == "d0/m.py"]
    assert len(found) == 60
    assert len({id(code) for code in found}) == 1


def test_loading_ends_at_the_deadline() -> None:
    codes = [read_file("models/new.sql", "select x from t")]
    model = load_model(lambda _: {}, downstream(), {}, codes, set(), time.monotonic() - 1)
    assert not model.consumers
    assert not model.writers


def test_many_names_of_the_same_tables_are_looked_at_once() -> None:
    """A file of 2,000 names that each mean all 2,000 tables."""
    names = frozenset(("s" + str(number), "z") for number in range(2_000))
    looked_at = 0

    class Counted(dict[int, str]):
        def values(self) -> Any:
            nonlocal looked_at
            looked_at += len(self)
            return super().values()

    named: SuffixIndex[str] = SuffixIndex()
    for number in range(2_000):
        named.add(["z"], f"dataset:{number}")
    named._by_name[("z",)] = Counted(named._by_name[("z",)])
    read = _tables_read(CodeFile("f.sql", frozenset(), References(tables=names)), named)
    assert len(read) == looked_at == 2_000


def test_files_that_may_read_a_million_tables_are_refused() -> None:
    tables = [(f"s{number}", "z") for number in range(1_100)]
    codes = [
        CodeFile(f"{number}.sql", frozenset({table}), References(tables=frozenset({("z",)})))
        for number, table in enumerate(tables)
    ]
    with pytest.raises(QueryError, match="may mean more than 1000000 tables") as refusal:
        load(codes)
    assert "write the names of tables in full" in refusal.value.hint
