"""dbt's `profiles.yml`: the connection of a target, with the templates in it rendered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.errors import QueryError


class Connection:
    """The fields of one target of a profile. A template is rendered when its field is read."""

    def __init__(self, fields: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._fields = fields
        self._environment = environment

    def get(self, name: str, default: str = "") -> str:
        """Return a field as text. Raises QueryError for a template that cannot be rendered."""
        value = self._fields.get(name)
        return default if value is None else _render(str(value), self._environment)


def read_connection(
    path: Path, profile: str, target: str, environment: Mapping[str, str]
) -> Connection:
    """Return the connection of a target.

    Args:
        path: The file `profiles.yml`.
        profile: Name of the profile, or "" for the only one.
        target: Name of the target, or "" for the one that the profile names.
        environment: The variables that `env_var` reads.

    Raises:
        QueryError: The file cannot be read, or has no such profile or target.
    """
    import yaml

    from headwater.bounded_yaml import BoundedAliasLoader

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), BoundedAliasLoader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise QueryError(f"{path} cannot be read: {str(error)[:200]}") from error
    profiles = {
        name: value
        for name, value in (content if isinstance(content, dict) else {}).items()
        if isinstance(value, dict) and isinstance(value.get("outputs"), dict)
    }
    found = _chosen(profiles, profile, path, "profile")
    name = target or _render(str(found.get("target") or "default"), environment)
    outputs = {key: value for key, value in found["outputs"].items() if isinstance(value, dict)}
    return Connection(_chosen(outputs, name, path, "target"), environment)


def _chosen(found: Mapping[str, Any], name: str, path: Path, kind: str) -> Any:
    if name in found:
        return found[name]
    if not name and len(found) == 1:
        return next(iter(found.values()))
    known = ", ".join(sorted(map(str, found))) or "none"
    problem = f"has no {kind} {name!r}" if name else f"has several {kind}s"
    raise QueryError(
        f"{path} {problem}; it has {known}",
        hint=f"Name one with --{'dbt-profile' if kind == 'profile' else 'target'}.",
    )


def _render(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with its templates rendered in a sandbox, as dbt renders a profile."""
    if "{{" not in text and "{%" not in text:
        return text
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def env_var(name: str, default: str | None = None) -> str:
        value = environment.get(name, default)
        if value is None:
            raise QueryError(
                f"profiles.yml needs the environment variable {name}",
                hint="Set it as for dbt, or name the namespace with --namespace.",
            )
        return value

    templates = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    templates.globals["env_var"] = env_var
    for name in ("as_bool", "as_native", "as_number", "as_text"):
        templates.filters[name] = str
    try:
        return templates.from_string(text).render()
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise QueryError(f"profiles.yml: {text[:80]!r} cannot be rendered: {error}") from error
