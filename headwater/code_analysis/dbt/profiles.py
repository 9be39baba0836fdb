"""dbt's `profiles.yml`: the connection of a target, with the templates in it rendered.

A template is rendered in a process of its own, whose time and memory are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.bounded_process import OutOfBoundsError, call_bounded
from headwater.errors import QueryError

# A host, an account or a path with its templates; and what they render.
VALUE_CHARACTERS_MAX = 4_000
_CPU_SECONDS_MAX = 2
_SHOWN_CHARACTERS = 80
# The variables that `env_var` reads. One that is None is withheld.
Environment = Mapping[str, str | None]


class Connection:
    """The fields of one target of a profile. A template is rendered when its field is read."""

    def __init__(self, fields: Mapping[str, Any], environment: Environment) -> None:
        self._fields = fields
        self._environment = environment

    def get(self, name: str, default: str = "") -> str:
        """Return a field as text. Raises QueryError if it cannot be rendered or is too long."""
        value = self._fields.get(name)
        return default if value is None else _render(str(value), self._environment)


def read_connection(path: Path, profile: str, target: str, environment: Environment) -> Connection:
    """Return the connection of a target.

    Args:
        path: The file `profiles.yml`.
        profile: Name of the profile, or "" for the only one.
        target: Name of the target, or "" for the one that the profile names.
        environment: The variables that `env_var` reads; None for one that a name may not hold.

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
    known = ", ".join(sorted(map(str, found)))[:VALUE_CHARACTERS_MAX] or "none"
    problem = f"has no {kind} {name[:_SHOWN_CHARACTERS]!r}" if name else f"has several {kind}s"
    raise QueryError(
        f"{path} {problem}; it has {known}",
        hint=f"Name one with --{'dbt-profile' if kind == 'profile' else 'target'}.",
    )


def _render(text: str, environment: Environment) -> str:
    """Return a text with its templates rendered, as dbt renders a profile. Raises QueryError."""
    if len(text) > VALUE_CHARACTERS_MAX:
        raise _problem(text, f"is longer than {VALUE_CHARACTERS_MAX:,} characters")
    if "{{" not in text and "{%" not in text:
        return text
    try:
        return call_bounded(_rendered, text, dict(environment), cpu_seconds=_CPU_SECONDS_MAX)
    except OutOfBoundsError as error:
        raise _problem(text, f"cannot be rendered: it {error}") from error


def _rendered(text: str, environment: Environment) -> str:
    """Return a text with its templates rendered in a sandbox."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def env_var(name: str, default: str | None = None) -> str:
        value = environment.get(name, default)
        if value is not None:
            return value
        if name in environment:
            raise QueryError(
                f"profiles.yml reads the environment variable {name}, which may be a secret",
                hint="Name the namespace of the datasets with --namespace.",
            )
        raise QueryError(
            f"profiles.yml needs the environment variable {str(name)[:_SHOWN_CHARACTERS]}",
            hint="Set it as for dbt, or name the namespace with --namespace.",
        )

    templates = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    templates.globals["env_var"] = env_var
    for name in ("as_bool", "as_native", "as_number", "as_text"):
        templates.filters[name] = str
    try:
        rendered = templates.from_string(text).render()
    except (QueryError, MemoryError):
        raise
    except Exception as error:
        # A template of a stranger may raise anything.
        raise _problem(text, f"cannot be rendered: {str(error)[:200]}") from None
    if len(rendered) > VALUE_CHARACTERS_MAX:
        raise _problem(text, f"renders more than {VALUE_CHARACTERS_MAX:,} characters")
    return rendered


def _problem(text: str, problem: str) -> QueryError:
    return QueryError(
        f"profiles.yml: {text[:_SHOWN_CHARACTERS]!r} {problem}",
        hint="Name the namespace of the datasets with --namespace.",
    )
