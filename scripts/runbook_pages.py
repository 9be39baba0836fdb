"""The pages of docs/how-to/runbooks, from the runbooks that the API serves."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial

from headwater.health.findings.rules import RULES
from headwater.health.findings.runbooks import RUNBOOKS, Runbook, runbook

_WIDTH = 120
_HEAD = """# Runbooks

*Written by `make docs` from `headwater/health/findings/runbook_pages/`.*

One page for each rule of the findings: the meaning of a finding, how to check it, how to end it, how to keep it from coming
again, and who to call. The API serves the same text at `/runbooks/RULE`, without a key, so that an alert leads to it also
where no other site is reachable. [On call](on-call.md) describes the routine around them.

Capital letters in a command stand for a name: `JOB`, `DATASET` and so on. Add `--json` for a program.

| rule | meaning | on a |
|---|---|---|
"""
_TOCTREE = "\n```{toctree}\n:hidden:\n:glob:\n\nrunbooks/*\n```\n"


def runbook_pages() -> dict[str, Callable[[], str]]:
    """Return the pages by their path under docs/how-to, each with the function that renders it."""
    pages: dict[str, Callable[[], str]] = {"runbooks.md": _index}
    for name in RUNBOOKS:
        found = runbook(name)
        assert found is not None
        pages[f"runbooks/{name}.md"] = partial(_page, found)
    return pages


def _index() -> str:
    rows = (
        f"| [{rule.name}](runbooks/{rule.name}.md) | {rule.title} | {rule.subject} |"
        for rule in RULES.values()
    )
    platform = (
        f"| [{name}](runbooks/{name}.md) | {title} | platform |"
        for name, title in RUNBOOKS.items()
        if name not in RULES
    )
    return _HEAD + "\n".join([*rows, *platform]) + "\n" + _TOCTREE


def _page(found: Runbook) -> str:
    parts = [f"# {found.rule}: {found.title}", _wrapped(found.meaning)]
    for heading, steps in found.sections():
        parts.append(f"## {heading}")
        if len(steps) == 1:
            parts.append(_wrapped(steps[0]))
        else:
            numbered = enumerate(steps, start=1)
            parts.append("\n".join(_wrapped(step, f"{number}. ") for number, step in numbered))
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, first: str = "") -> str:
    """Wrap a paragraph or a step; a command is not broken at its hyphens."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_on_hyphens=False,
        break_long_words=False,
    )
