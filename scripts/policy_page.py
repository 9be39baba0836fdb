"""The page of the variables and the ready-made rules of policies, for `scripts/catalogue.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files

from headwater.governance.policies.ready_made import RULES
from headwater.governance.policies.variables import VARIABLES

_HEAD = """# Variables and ready-made rules of policies

*Written by `make docs` from `headwater/governance/policies/variables.toml` and `rules.toml`.*

A condition of a [policy](../how-to/policies.md) reads these variables. A value that nobody knows has no default: a
condition that needs it cannot be assessed. In a map of `upstream`, `i.ageSeconds` is missing if it is unknown.
"""


def policy_variables_page() -> str:
    """Return the page docs/reference/policy-variables.md."""
    return "\n".join([_HEAD, *_variables(), *_rules()])


def _variables() -> Iterator[str]:
    content = files("headwater.governance.policies").joinpath("variables.toml").read_text()
    for group in tomllib.loads(content)["group"]:
        yield f"## {group['name'] or 'others'}\n"
        yield f"{group['meaning']}\n"
        yield "| variable | type | meaning | example |\n|---|---|---|---|"
        for variable in VARIABLES.values():
            if variable.group == group["name"]:
                yield (
                    f"| `{variable.name}` | {variable.type} | {variable.meaning} | "
                    f"`{variable.example}` |"
                )
        yield ""


def _rules() -> Iterator[str]:
    yield "## Ready-made rules\n"
    yield "An argument in `with` stands in the condition as `$name`.\n"
    for rule in RULES.values():
        yield f"### {rule.name}\n"
        on = ", ".join(rule.on)
        yield f"{rule.title}. On {on}; {rule.severity}; {rule.enforce}.\n"
        if rule.arguments:
            yield "| argument | kind | default |\n|---|---|---|"
            for name, (kind, default) in rule.arguments.items():
                yield f"| `{name}` | {kind} | `{default}` |"
            yield ""
        yield f"```\n{rule.condition.strip()}\n```\n"
