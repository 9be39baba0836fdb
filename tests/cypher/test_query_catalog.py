"""The catalog of queries: every file has a complete header, and a malformed header raises
QueryError.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher import query_catalog as module
from headwater.cypher.migrate import migrations
from headwater.cypher.query_catalog import Parameter, find_query, load_queries, refuse_newer
from headwater.errors import NewerVersionError, QueryError

NEWEST = migrations()[-1].name
GOOD = """// The purpose,
// in two lines.
// access: read
// params: $name STRING, $limit INTEGER = 20, $urns LIST<STRING> = ["a", "b"]
// returns: one,
//   two
// example: headwater cypher audit/x --param name=y
MATCH (n {name: $name}) WHERE n.urn IN $urns RETURN n.one AS one, n.two AS two LIMIT $limit
"""


def read(text: str, folder: Path) -> module.Query:
    file = folder / "x.cypher"
    file.write_text(text, encoding="utf-8")
    return module._read_query("audit/x", file)


def test_header_is_parsed(tmp_path: Path) -> None:
    found = read(GOOD, tmp_path)
    assert found.purpose == "The purpose, in two lines."
    assert (found.access, found.returns) == ("read", "one, two")
    assert found.example == "headwater cypher audit/x --param name=y"
    assert found.parameters == (
        Parameter("name", "STRING", None, True),
        Parameter("limit", "INTEGER", 20, False),
        Parameter("urns", "LIST<STRING>", ["a", "b"], False),
    )
    assert found.text == GOOD


def test_no_parameters(tmp_path: Path) -> None:
    text = (
        "// Why.\n// access: schema\n// params: none\n// returns: nothing\n// example: "
        "none\nRETURN 1\n"
    )
    assert read(text, tmp_path).parameters == ()


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


MALFORMED = {
    "empty": ("", "does not give the purpose of the query"),
    "no header": ("MATCH (n) RETURN n\n", "does not give the purpose of the query"),
    "no purpose": (GOOD.split("lines.\n")[1], "does not give the purpose of the query"),
    "no access": (changed("// access: read\n", ""), "lacks access"),
    "access empty": (changed("// access: read", "// access:"), "lacks access"),
    "access unknown": (
        changed("access: read", "access: all"),
        "'all' is none of read, write, schema",
    ),
    "no params": (changed("// params:", "// parameters:"), "lacks params"),
    "no returns": (changed("// returns: one,\n//   two\n", ""), "lacks returns"),
    "no example": (changed("// example: ", "// for example "), "lacks example"),
    "only a purpose": ("// Why.\n", "lacks access, params, returns, example"),
    "a parameter without a type": (
        changed("$name STRING", "$name"),
        "cannot parse the parameter '.name'",
    ),
    "an unknown type": (
        changed("$name STRING", "$name TEXT"),
        "cannot parse the parameter '.name TEXT'",
    ),
    "a type in lower case": (changed("$name STRING", "$name string"), "cannot parse the parameter"),
    "a parameter without $": (changed("$name STRING", "name STRING"), "cannot parse the parameter"),
    "a default that is no JSON": (
        changed("= 20", "= twenty"),
        "default 'twenty' of .limit is not JSON",
    ),
    "declared twice": (
        changed("$name STRING", "$name STRING, $name STRING"),
        "declares .name twice",
    ),
    "declared but not used": (changed("{name: $name}", ""), "declares .* but uses"),
    "used but not declared": (changed("$limit INTEGER = 20, ", ""), "declares .* but uses"),
    "a comma too many": (changed("$name STRING,", "$name STRING,,"), "cannot parse the parameter"),
    "no statement": (GOOD.split("MATCH")[0], "declares|no statement"),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_header_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=message) as refusal:
        read(text, tmp_path)
    if text:
        assert "audit/x.cypher" in refusal.value.message


def test_names_of_nested_files_are_their_paths(tmp_path: Path) -> None:
    folder = tmp_path / "traversal" / "up"
    folder.mkdir(parents=True)
    (folder / "producers.cypher").write_text(GOOD, encoding="utf-8")
    (tmp_path / "nodes.cypher").write_text(GOOD, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no query", encoding="utf-8")
    names = [name for name, _ in module._query_files("read", tmp_path)]
    assert names == ["read/nodes", "read/traversal/up/producers"]


def test_every_file_of_the_catalog_can_be_parsed() -> None:
    queries = load_queries()
    assert {name.partition("/")[0] for name in queries} == {"audit", "read", "write", "migrations"}
    for name, found in queries.items():
        assert found.access == {"write": "write", "migrations": "schema"}.get(
            name.partition("/")[0], "read"
        )


def test_audit_query_is_found_by_its_bare_name() -> None:
    name = next(name for name in load_queries() if name.startswith("audit/"))
    assert find_query(name.removeprefix("audit/")) is find_query(name)
    with pytest.raises(QueryError, match="there is no query 'nonsense'"):
        find_query("nonsense")


def migrations_reader(*names: str) -> Callable[..., list[dict[str, Any]]]:
    def read(query: str, /, *, name: str) -> list[dict[str, Any]]:
        assert (query, name) == ("read/state/migrations_after", NEWEST)
        return [{"name": one} for one in names]

    return read


@pytest.mark.parametrize("names", [(), (f"{NEWEST}_renamed",), ("migrations/notes",)])
def test_a_graph_without_a_higher_number_is_accepted(names: tuple[str, ...]) -> None:
    refuse_newer(migrations_reader(*names))


def test_the_newest_migration_is_named() -> None:
    with pytest.raises(NewerVersionError, match=f"to migrations/9999_b; .* up to {NEWEST}"):
        refuse_newer(migrations_reader("migrations/9998_a", "migrations/9999_b"))
