"""Files of the Open Data Contract Standard (ODCS): read, and checked with its JSON schema.

The schema of version 3.2 is vendored as published (`odcs.schema.json`); it holds for 3.0 and 3.1
too, but for its conditions on types (`_require_type`).
YAML is read within limits (`bounded_yaml`), and without times: the standard writes times as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from headwater.bounded_yaml import BoundedLoader
from headwater.errors import HeadwaterError, QueryError

if TYPE_CHECKING:
    from jsonschema_rs import Draft201909Validator

FILE_BYTES_MAX = 2 * 2**20
FAULTS_MAX = 20
SUFFIXES = (".yaml", ".yml", ".json")
API_VERSIONS = ("v3.0", "v3.1", "v3.2")
_TIME_TAG = "tag:yaml.org,2002:timestamp"
_VALUE_CHARACTERS_MAX = 200

Document = dict[str, Any]


class ContractError(QueryError):
    """A file that is no contract of the standard; the message names the first places."""


class _Loader(BoundedLoader):
    """A bounded loader of YAML without times."""


def _without_times(resolvers: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(tag, pattern) for tag, pattern in resolvers if tag != _TIME_TAG]


_Loader.yaml_implicit_resolvers = {
    first: _without_times(resolvers)
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_document(text: str) -> Document:
    """Return a contract as the JSON of the standard. Raises ContractError."""
    try:
        document = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ContractError(f"no YAML or JSON: {_problem(error)}") from error
    except (RecursionError, ValueError) as error:
        raise ContractError("no YAML or JSON: a number in it has too many digits") from error
    if not isinstance(document, dict):
        raise ContractError("a contract must be an object", hint="See bitol.io for the standard.")
    version = str(document.get("apiVersion") or "")
    if not version.startswith(API_VERSIONS):
        raise ContractError(
            f"`apiVersion` is {version[:40]!r}; expected {', '.join(API_VERSIONS)}",
            hint="Convert the contract to version 3 of the standard.",
        )
    faults = list(_faults(document))
    if faults:
        raise ContractError("; ".join(faults), hint="Check the file against the standard.")
    _require_finite(document)
    return document


def _require_finite(document: Document) -> None:
    try:
        json.dumps(document, allow_nan=False)
    except ValueError as error:
        raise ContractError("a number is infinite or none", hint="Write a number.") from error


def _problem(error: yaml.YAMLError) -> str:
    """Return what is wrong in one line, with its place."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    text = " ".join(str(error).split())
    if mark is not None and isinstance(error, yaml.MarkedYAMLError):
        problem = error.problem or error.context or "is no YAML"
        text = f"line {mark.line + 1}, column {mark.column + 1}: {problem}"
    return text[:_VALUE_CHARACTERS_MAX]


def read_file(path: Path) -> Document:
    """Return the contract in a file. Raises ContractError, which names the file."""
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise ContractError(f"the file has more than {FILE_BYTES_MAX} bytes")
        return read_document(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"{path}: cannot be read: {error}") from error
    except ContractError as error:
        raise ContractError(f"{path}: {error.message}", hint=error.hint) from error


def contract_files(path: Path) -> list[Path]:
    """Return a file, or the YAML and JSON files in a folder by name. Raises QueryError."""
    if not path.is_dir():
        if not path.exists():
            raise QueryError(f"{path}: there is no such file or folder")
        return [path]
    found = sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
    if not found:
        raise QueryError(f"{path}: the folder has no files that end with {', '.join(SUFFIXES)}")
    return found


def require_valid(document: Document) -> None:
    """Raise ContractError if a document breaks the standard."""
    faults = list(_faults(document))
    if faults:
        raise ContractError("; ".join(faults))


def _faults(document: Document) -> Iterator[str]:
    try:
        for number, error in enumerate(_validator().iter_errors(document)):
            if number >= FAULTS_MAX:
                yield "and more"
                return
            path = "/".join(map(str, error.instance_path)) or "the contract"
            yield f"{path}: {error.message[:_VALUE_CHARACTERS_MAX]}"
    except ValueError as error:
        # A value that is no JSON, such as a key that is a number, or too deep nesting.
        yield f"the contract is no JSON: {str(error)[:_VALUE_CHARACTERS_MAX]}"


@cache
def _validator() -> Draft201909Validator:
    try:
        from jsonschema_rs import Draft201909Validator
    except ImportError as error:
        raise MissingExtraError from error
    content = files("headwater.governance.contracts").joinpath("odcs.schema.json").read_text()
    schema = json.loads(content)
    for one in schema["$defs"]["SchemaBaseProperty"]["allOf"]:
        _require_type(one.get("if") or {})
    return Draft201909Validator(schema)


def _require_type(condition: Document) -> None:
    """Let a condition on the logical type hold only for properties that have one.

    As published it also holds without one, and then every such property would need a `map`.
    """
    if "logicalType" in condition.get("properties", {}):
        condition["required"] = ["logicalType"]
    for one in condition.get("anyOf") or ():
        _require_type(one)


class MissingExtraError(HeadwaterError):
    """The packages that read contracts and schemas are not installed."""

    def __init__(self) -> None:
        super().__init__(
            "contracts need the extra `contracts`",
            hint="Install it with pip install 'headwater[contracts]'.",
        )
