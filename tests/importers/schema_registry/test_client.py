"""The client of a registry, against a real HTTP server."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError, SettingsError, UnavailableError
from headwater.importers.schema_registry.client import Reference, SchemaRegistry
from tests.importers.schema_registry.registries import served


def test_subjects_and_versions() -> None:
    references = [{"name": "Line", "subject": "line", "version": 1}, {"name": 7}, "x"]
    subjects = {"b/1-value": [{"schema": '"int"', "references": references}], "a-value": []}
    with served(subjects) as url:
        registry = SchemaRegistry(f"{url}/")
        assert registry.subjects() == ["a-value", "b/1-value"]
        assert registry.versions("b/1-value") == [1]
        one = registry.schema("b/1-value", 1)
        assert (one.id, one.type, one.text) == (101, "AVRO", '"int"')
        assert one.references == (Reference("Line", "line", 1),)
        with pytest.raises(QueryError, match="404"):
            registry.versions("c")


def test_credentials() -> None:
    with served({}, authorization="Basic YW5uOnNlc2FtZQ==") as url:
        assert SchemaRegistry(url, user="ann", password="sesame").subjects() == []
        with pytest.raises(QueryError, match="401"):
            SchemaRegistry(url).subjects()
    with served({}, authorization="Bearer t") as url:
        assert SchemaRegistry(url, token="t").subjects() == []
        assert SchemaRegistry(url, token=" t\r\n").subjects() == []
    with served({}, authorization="Basic YW5uOv8=") as url:
        assert SchemaRegistry(url, user="ann", password="\udcff").subjects() == []


@pytest.mark.parametrize("token", ["SECRET\nx", "SECRET x", "SECRET€", "SECRET\udcff", "SECRET\0"])
def test_a_malformed_token_is_refused_without_printing_it(token: str) -> None:
    with pytest.raises(SettingsError, match="must be one word of printable ASCII") as caught:
        SchemaRegistry("http://registry", token=token)
    assert "SECRET" not in caught.value.message + caught.value.hint


def test_bad_addresses_and_answers() -> None:
    for address in ("registry:8081", "file:///etc/passwd", "http://"):
        with pytest.raises(QueryError, match="begin with http"):
            SchemaRegistry(address)
    with pytest.raises(QueryError, match="password"):
        SchemaRegistry("http://ann:sesame@registry")
    with served({"a": [{"schema": 7}]}) as url, pytest.raises(QueryError, match="no schema"):
        SchemaRegistry(url).schema("a", 1)
    with served({}) as url:
        gone = url
    with pytest.raises(UnavailableError):
        SchemaRegistry(gone).subjects()
