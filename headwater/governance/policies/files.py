"""Policies read from files: YAML, checked against a JSON schema, compiled.

A directory is read recursively. A file has one policy in each document, or a list `policies`. Every
problem is reported, with its file, line and field.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.governance.policies.cases import case_values
from headwater.governance.policies.conditions import compile_condition
from headwater.governance.policies.models import (
    MESSAGE_VARIABLE,
    Enforcement,
    Match,
    Policy,
    PolicyCase,
    PolicyError,
    PolicyException,
    PolicySet,
    Severity,
    Subject,
)
from headwater.governance.policies.ready_made import nearest, ready_made_rule
from headwater.governance.policies.variables import VARIABLES
from headwater.governance.policies.yaml_files import Document, read_documents
from headwater.schema.settings_files import read_settings_file

if TYPE_CHECKING:
    import jsonschema_rs

ENDINGS = (".yaml", ".yml")
FILES_MAX = 1_000
FILE_BYTES_MAX = 1_000_000
POLICIES_MAX = 2_000
_PROBLEMS_MAX = 50
_MESSAGE_CHARACTERS_MAX = 200


@dataclass(frozen=True)
class PolicyFile:
    """A file of policies: its path within the directory, and its text."""

    path: str
    text: str


def load_policies(path: str | Path) -> PolicySet:
    """Return the policies of a directory or a file.

    Raises:
        PolicyError: A file cannot be read, or a policy is wrong; one line for each problem.
    """
    return parse_policies(read_policy_files(path))


def read_policy_files(path: str | Path) -> list[PolicyFile]:
    """Return the files of policies in a directory, by path; hidden files are left out.

    Raises:
        PolicyError: A file cannot be read or is too large, or there are too many.
    """
    return [PolicyFile(name, read_policy_file(file)) for name, file in find_policy_files(path)]


def find_policy_files(path: str | Path) -> list[tuple[str, Path]]:
    """Return the files of policies in a directory, each with its path within it.

    Raises:
        PolicyError: There is no such directory, or there are too many files.
    """
    root = Path(path)
    if root.is_file():
        return [(root.name, root)]
    if not root.is_dir():
        raise PolicyError(
            f"{root}: there is no such directory", hint="Name a directory of policies."
        )
    found: list[tuple[str, Path]] = []
    for folder, names, file_names in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(file_names):
            if name.endswith(ENDINGS) and not name.startswith("."):
                file = Path(folder, name)
                found.append((file.relative_to(root).as_posix(), file))
        if len(found) > FILES_MAX:
            raise PolicyError(f"{root}: has more than {FILES_MAX} files of policies")
    return sorted(found)


def read_required_files(path: str | Path) -> list[PolicyFile]:
    """Return the files of policies in a directory that must have one.

    Raises:
        PolicyError: The directory has none, or one cannot be read.
    """
    found = read_policy_files(path)
    if not found:
        raise PolicyError(f"{path}: has no files of policies", hint="They end in .yaml or .yml.")
    return found


def parse_policies(some: list[PolicyFile]) -> PolicySet:
    """Return the policies of these files.

    Raises:
        PolicyError: A policy is wrong; one line for each problem.
    """
    problems: list[str] = []
    policies: dict[str, Policy] = {}
    for file in some:
        for policy, place in _parse_file(file, problems):
            if policy.name in policies:
                first = policies[policy.name].file
                problems.append(f"{place}: name: {policy.name} is in {first} too; rename one")
            policies[policy.name] = policy
    if len(policies) > POLICIES_MAX:
        problems.append(f"There are more than {POLICIES_MAX} policies")
    if problems:
        more = len(problems) - _PROBLEMS_MAX
        shown = [*problems[:_PROBLEMS_MAX], *([f"and {more} more problems"] if more > 0 else [])]
        raise PolicyError("\n".join(shown))
    digest = digest_of_texts((one.path, one.text) for one in some)
    return PolicySet(tuple(sorted(policies.values(), key=lambda one: one.name)), digest)


def digest_of_texts(some: Iterable[tuple[str, str]]) -> str:
    """Return a short text that changes whenever one of these texts changes."""
    return hashlib.sha256(json.dumps(list(some)).encode()).hexdigest()[:16]


def parse_valid_policies(file: PolicyFile) -> tuple[tuple[Policy, ...], tuple[str, ...]]:
    """Return the policies of a file that are right, and the problems of the others."""
    problems: list[str] = []
    policies: dict[str, Policy] = {}
    try:
        for policy, place in _parse_file(file, problems):
            if policy.name in policies:
                problems.append(f"{place}: name: {policy.name} is in the file twice; rename one")
            policies.setdefault(policy.name, policy)
    except PolicyError as error:
        # The engine of policies is not installed.
        problems.append(f"{file.path}: {error.message} {error.hint}".strip())
    return tuple(policies.values()), tuple(problems[:_PROBLEMS_MAX])


def read_policy_file(file: Path) -> str:
    """Return the text of a file. Raises PolicyError if it cannot be read."""
    try:
        return read_settings_file(file, bytes_max=FILE_BYTES_MAX)
    except UnicodeDecodeError:
        raise PolicyError(f"{file}: is no text in UTF-8") from None
    except OSError as error:
        raise PolicyError(f"{file}: cannot be read: {error.strerror or error}") from None


def _parse_file(file: PolicyFile, problems: list[str]) -> Iterator[tuple[Policy, str]]:
    """Yield the policies of a file with their places; add what is wrong to `problems`."""
    try:
        documents = list(read_documents(file.text))
    except PolicyError as error:
        problems.append(f"{file.path}:{error.message}")
        return
    for document in documents:
        for value, path in _policies_of(document):
            place = f"{file.path}:{document.line_of(path)}"
            found = _schema_problems(file.path, document, value, path)
            wrong = list(islice(found, _PROBLEMS_MAX + 1))
            if wrong:
                problems.extend(wrong)
                continue
            try:
                yield _policy(value, file.path), place
            except PolicyError as error:
                field = error.message.partition(":")[0].split(".")[0]
                line = document.line_of((*path, field))
                problems.append(f"{file.path}:{line}: policy {value['name']}: {error.message}")


def _policies_of(document: Document) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the policies of a document with their paths."""
    value = document.value
    if (
        isinstance(value, dict)
        and set(value) == {"policies"}
        and isinstance(value["policies"], list)
    ):
        for index, one in enumerate(value["policies"]):
            yield one, ("policies", index)
    else:
        yield value, ()


def _schema_problems(
    file: str, document: Document, value: Any, path: tuple[Any, ...]
) -> Iterator[str]:
    if not isinstance(value, dict):
        shown = shortened(json.dumps(value, ensure_ascii=False), 80)
        line = document.line_of(path)
        yield f"{file}:{line}: {shown} is no policy; write name: and condition:, or a list policies"
        return
    name = value.get("name")
    named = f"policy {name[:80]}: " if isinstance(name, str) else ""
    known = _schema()["properties"]
    for key in value:
        if key not in known:
            line = document.line_of((*path, key))
            yield f"{file}:{line}: {named}{key[:80]}: is no field{nearest(key[:80], known)}"
    if ("condition" in value) == ("rule" in value):
        line = document.line_of(path)
        yield f"{file}:{line}: {named}condition: write a condition or a rule, one of the two"
    elif "condition" in value and "on" not in value:
        yield f"{file}:{document.line_of(path)}: {named}on: is missing; write on: dataset"
    for error in _validator().iter_errors(value):
        where = tuple(error.instance_path)
        if not where and "required property" not in error.message:
            continue
        field = ".".join(str(part) for part in where)
        line = document.line_of((*path, *where))
        message = shortened(error.message, _MESSAGE_CHARACTERS_MAX) + _fix(where)
        yield f"{file}:{line}: {named}{field + ': ' if field else ''}{message}"


def shortened(text: str, characters_max: int) -> str:
    """Return a text without its middle if it is too long: a message ends with what is wrong."""
    if len(text) <= characters_max:
        return text
    half = characters_max // 2 - 1
    return f"{text[:half]}…{text[-half:]}"


def _fix(where: tuple[Any, ...]) -> str:
    """Return what the schema says of a field."""
    if not where:
        return ""
    if where[0] == "on":
        return f"; write one of {', '.join(Subject)}"
    described = _schema()["properties"].get(where[0], {}).get("description", "")
    return f" ({described.rstrip('.')})" if described else ""


@cache
def _schema() -> Mapping[str, Any]:
    text = files("headwater.governance.policies").joinpath("policy.schema.json").read_text()
    schema: Mapping[str, Any] = json.loads(text)
    return schema


@cache
def _validator() -> jsonschema_rs.Validator:
    try:
        import jsonschema_rs
    except ImportError:
        raise PolicyError(
            "Policies need the package jsonschema-rs",
            hint="Install it: pip install 'headwater[policy]'.",
        ) from None
    return jsonschema_rs.validator_for(dict(_schema()))


def _policy(value: Mapping[str, Any], file: str) -> Policy:
    rule = ready_made_rule(value["rule"]) if "rule" in value else None
    if rule is None and "with" in value:
        raise PolicyError("with: belongs to a ready-made rule; remove it")
    arguments = value.get("with", {})
    source = rule.expand(arguments) if rule else value["condition"].strip()
    try:
        condition = compile_condition(source)
    except PolicyError as error:
        raise PolicyError(f"condition: {error.message}", hint=error.hint) from None
    message = value.get("message") or (rule.message if rule else "")
    for match in MESSAGE_VARIABLE.finditer(message):
        if match[1] not in VARIABLES:
            raise PolicyError(
                f"message: {{{match[1]}}} is no variable{nearest(match[1], VARIABLES)}"
            )
    subjects = _texts(value.get("on")) or (rule.on if rule else ())
    matched = value.get("match", {})
    return Policy(
        name=value["name"],
        subjects=frozenset(Subject(one) for one in subjects),
        source=source,
        condition=condition,
        title=value.get("title") or (rule.title if rule else ""),
        description=value.get("description", ""),
        match=Match(
            _texts(matched.get("namespace")),
            _texts(matched.get("name")),
            _texts(matched.get("tags")),
            _texts(matched.get("type")),
        ),
        severity=Severity(value.get("severity") or (rule.severity if rule else Severity.P2)),
        enforce=Enforcement(value.get("enforce") or (rule.enforce if rule else Enforcement.WARN)),
        message=message,
        owners=_texts(value.get("owners")),
        notify=_texts(value.get("notify")),
        exceptions=tuple(_exception(one) for one in value.get("exceptions", ())),
        until=_instant("until", value.get("until")),
        rule=rule.name if rule else "",
        arguments=arguments,
        cases=tuple(_case(one) for one in value.get("tests", ())),
        file=file,
    )


def _exception(value: Mapping[str, Any]) -> PolicyException:
    return PolicyException(
        value["node"], value["reason"], _instant("exceptions.until", value.get("until"))
    )


def _case(value: Mapping[str, Any]) -> PolicyCase:
    try:
        given = case_values(value["given"])
    except PolicyError as error:
        raise PolicyError(f"tests: {value['name'][:80]}: {error.message}") from None
    instant = _instant("tests.instant", value.get("instant"))
    return PolicyCase(value["name"], given, value["expect"], instant)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _instant(field: str, text: str | None) -> datetime | None:
    """Return a date or a time; without a zone it is in UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise PolicyError(
            f"{field}: {text[:40]!r} is no time; write 2026-12-31 or ISO 8601"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
