"""The command `evidence`: file names, complete files, verification of a pack on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app, evidence
from headwater.errors import HeadwaterError, QueryError


def test_two_urns_have_two_names(tmp_path: Path) -> None:
    first = evidence._paths("dataset:db:a/b", tmp_path)
    second = evidence._paths("dataset:db:a-b", tmp_path)
    assert [path.suffix for path in first] == [".json", ".html"]
    assert first[0].name.startswith("evidence-dataset-db-a-b-")
    assert not {*first} & {*second}
    assert evidence._paths("x", tmp_path / "pack.html") == [tmp_path / "pack.html"]


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HeadwaterError, match="cannot be written"):
        evidence._write(tmp_path / "file" / "pack.json", {"a": 1})


def test_either_a_urn_or_a_file(tmp_path: Path) -> None:
    for words in ([], ["dataset:a:b", "--verify", str(tmp_path / "pack.json")]):
        result = CliRunner().invoke(app, ["evidence", *words])
        assert isinstance(result.exception, QueryError)


def test_a_changed_pack_gives_exit_code_1(tmp_path: Path) -> None:
    from headwater.evidence.digest import add_digest

    pack = add_digest({"kind": "pack", "node": {"urn": "dataset:a:b"}})
    file = tmp_path / "pack.json"
    file.write_text(json.dumps(pack))
    verified = CliRunner().invoke(app, ["evidence", "--verify", str(file)])
    assert verified.exit_code == 0, verified.output
    file.write_text(json.dumps({**pack, "node": {"urn": "dataset:a:c"}}))
    changed = CliRunner().invoke(app, ["evidence", "--verify", str(file), "--json"])
    assert changed.exit_code == 1, changed.output
