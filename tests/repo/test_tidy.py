"""Style that a test can hold: files and functions that are too long, stale or out of place are
named.

The limits may only go down.
"""

from __future__ import annotations

import ast
import re

from tests.repo.repository import functions, python_files, text, tracked, tree

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 80
SHORT_LINES = 30
SHORT_SHARE_MIN = 0.9

# Names that do not describe the content.
VAGUE = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
# Written by programs, not by people.
LOCKS = (
    "requirements.lock",
    "requirements-build.lock",
    "requirements-demo.lock",
    "requirements-server.lock",
    "tests/producers/dbt.lock",
    "tests/producers/airflow.lock",
)
GENERATED = (
    *LOCKS,
    # The schema of the Open Data Contract Standard, as published.
    "headwater/governance/contracts/odcs.schema.json",
    "docs/reference/cli.md",
    "scripts/page_tools/package-lock.json",
    "docs/reference/cypher.md",
    "docs/reference/graph.md",
    "docs/reference/graph.svg",
    "docs/reference/questions.md",
    "docs/reference/schema.graphql",
    "docs/reference/schema.released.graphql",
    "tests/captures/",
    "tests/graphql/clients/graphql-16/package-lock.json",
    "tests/graphql/clients/graphql-17/package-lock.json",
    "tests/ui/js/packages/package-lock.json",
)
BINARY = (".dictionary", ".gz", ".ico", ".jar", ".parquet", ".png")
# Spelled in pieces, so that this file does not contain the words that it looks for.
LEFT_OVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
PLACES = re.compile(
    "|".join(
        (
            r"/ro" + r"ot/",
            r"/wo" + r"rk/",
            r"/ho" + r"me/(?!you\b|user\b|runner\b)\w",
            r"/Use" + r"rs/\w",
            r"\bpypi\." + "org",
            r"\bpython" + r"hosted\.",
            r"\brepo1?\.maven" + r"\.",
            r"\bmaven" + r"\.org",
            r"\bregistry\.npm" + "js",
            r"\bcrates\." + "io",
            r"\bproxy\.golang" + r"\.",
            r"\bdeb\.debian" + r"\.",
        )
    )
)


def readable() -> list[str]:
    return [name for name in tracked() if not name.endswith(BINARY)]


def test_files_are_short() -> None:
    sized = {
        name: len(text(name).splitlines()) for name in readable() if not name.startswith(GENERATED)
    }
    assert {name: size for name, size in sized.items() if size > FILE_LINES_MAX} == {}


def test_functions_are_short() -> None:
    ours = [function for name in python_files() for function in functions(name)]
    assert [function[:2] for function in ours if function.lines > FUNCTION_LINES_MAX] == []
    for room in ("headwater/", "tests/"):
        lines = [function.lines for function in ours if function.where.startswith(room)]
        assert sum(count < SHORT_LINES for count in lines) >= SHORT_SHARE_MIN * len(lines), room


def test_every_module_has_a_docstring() -> None:
    silent = [name for name in python_files() if text(name) and not ast.get_docstring(tree(name))]
    assert silent == []


def test_every_function_is_annotated() -> None:
    bare = [
        function.where
        for name in python_files()
        for function in functions(name)
        if function.node.returns is None
        or any(
            argument.annotation is None and argument.arg not in {"self", "cls"}
            for argument in _arguments(function.node.args)
        )
    ]
    assert bare == []


def _arguments(args: ast.arguments) -> list[ast.arg]:
    rest = [argument for argument in (args.vararg, args.kwarg) if argument]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *rest]


def test_nothing_is_left_over() -> None:
    found = [
        f"{name}: {match[0]}" for name in readable() for match in LEFT_OVER.finditer(text(name))
    ]
    # The hashes of a lock file and recorded events are not anybody's notes.
    assert [line for line in found if not line.startswith(GENERATED)] == []


def test_no_file_has_a_vague_name() -> None:
    stems = {name: name.rpartition("/")[2].partition(".")[0].strip("_") for name in tracked()}
    assert [
        name for name, stem in stems.items() if stem in VAGUE or VAGUE & set(name.split("/")[:-1])
    ] == []


def test_no_machine_and_no_registry_is_named() -> None:
    found = [f"{name}: {match[0]}" for name in readable() for match in PLACES.finditer(text(name))]
    assert found == []


def test_the_lock_files_hold_names_and_hashes_only() -> None:
    for name in LOCKS:
        entries = re.split(r"\n(?! )", text(name).strip())
        shape = re.compile(r"[\w.\-]+==[\w.+!]+( ; .+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")
        assert [entry for entry in entries if not shape.fullmatch(entry)] == []
        assert "://" not in text(name)


def test_every_page_has_one_title() -> None:
    pages = {name: _titles(text(name)) for name in tracked() if name.endswith(".md")}
    assert {name: titles for name, titles in pages.items() if len(titles) != 1} == {}


def _titles(markdown: str) -> list[str]:
    without_code = re.sub(r"^(```|~~~).*?^\1\s*$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^# .+$", without_code, flags=re.MULTILINE)
