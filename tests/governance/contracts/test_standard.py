"""Files of the Open Data Contract Standard: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from open_data_contract_standard.model import OpenDataContractStandard

from headwater.errors import QueryError
from headwater.governance.contracts.standard import (
    FILE_BYTES_MAX,
    ContractError,
    contract_files,
    read_document,
    read_file,
)

ORDERS = Path("examples/contracts/orders.odcs.yaml")
LEAST = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "a", "version": "1"}
NAMED = "apiVersion: v3.1.0, kind: DataContract, id: a, version: '1', status: active"


def text_of(**more: Any) -> str:
    return json.dumps({**LEAST, **more})


def test_the_reader_of_the_standard_reads_the_same() -> None:
    document = read_file(ORDERS)
    oracle = OpenDataContractStandard.from_file(str(ORDERS))
    assert (document["id"], document["version"]) == (oracle.id, oracle.version)
    for one, other in zip(document["schema"], oracle.schema_ or [], strict=True):
        names = [field["name"] for field in one["properties"]]
        assert names == [field.name for field in other.properties or []]
    assert document["contractCreatedTs"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize("version", ["v3.0.0", "v3.0.2", "v3.1.0", "v3.2.0"])
def test_versions_of_the_standard(version: str) -> None:
    assert read_document(text_of(apiVersion=version))["apiVersion"] == version


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be an object"),
        ("[]", "must be an object"),
        ("a: [", "no YAML or JSON"),
        ("a: &a [1]\nb: *a", "aliases"),
        ("? {a: 1}\n: 2", "no YAML or JSON"),
        (text_of(apiVersion="v2.2.0"), "apiVersion"),
        (text_of(apiVersion=None), "apiVersion"),
        (text_of(version=7), "version"),
        (text_of(id=None), "id"),
        (text_of(schema={}), "schema"),
        (text_of(schema=[{}]), "name"),
        (text_of(surprise=1), "surprise"),
        ("!!python/object/apply:os.system [ls]", "no YAML or JSON"),
        ("[" * 10_000, "no YAML or JSON"),
        ("1: a\napiVersion: v3.1.0", "the contract"),
        ("id: a\nid: b", "line 2, column 1: the key 'id' stands twice"),
        ("a: " + "9" * 5_000, "too many digits"),
        ('a: "\\ud800"', "line 1, column 4: has half of a surrogate pair"),
        (
            f"{{{NAMED}, schema: [{{name: a, quality: [{{metric: rowCount, mustBe: .nan}}]}}]}}",
            "a number is infinite or none",
        ),
    ],
)
def test_what_is_no_contract(text: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        read_document(text)


def test_files(tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    folder.mkdir()
    with pytest.raises(QueryError, match="no files"):
        contract_files(folder)
    with pytest.raises(QueryError, match="no such"):
        contract_files(tmp_path / "missing")
    for name in ("b.yaml", "a.json", "notes.md"):
        (folder / name).write_text(text_of())
    assert [path.name for path in contract_files(folder)] == ["a.json", "b.yaml"]
    large = folder / "large.yaml"
    large.write_bytes(b" " * (FILE_BYTES_MAX + 1))
    with pytest.raises(ContractError, match=r"large\.yaml: the file has more"):
        read_file(large)
    large.write_bytes(b"\xff\xfe")
    with pytest.raises(ContractError, match="cannot be read"):
        read_file(large)


def test_the_example_is_yaml_that_any_reader_reads() -> None:
    assert yaml.safe_load(ORDERS.read_text())["id"] == "shop-orders"
