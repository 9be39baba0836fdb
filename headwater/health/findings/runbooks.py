"""Runbooks: for each rule, what a finding means, how to check it, end it, and prevent it.

Two more are for alerts about Headwater itself: missed service levels, and personal data in events.

`runbook_pages/RULE.toml` holds the text. The API serves it at `/runbooks/RULE`, also where no other
site is reachable, and `make docs` writes docs/how-to/runbooks.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from headwater.health.findings.rules import RULES

# The title of each runbook, by name.
RUNBOOKS = {
    **{rule.name: rule.title for rule in RULES.values()},
    "service-level": "The platform misses a service level, or its budget burns",
    "redacted-values": "Events arrive with personal data in their texts",
}


_LIST = (
    "List the open findings with `headwater findings --rule {rule}`; one with its evidence and "
    "causes with `headwater findings show ID`."
)


@dataclass(frozen=True)
class Runbook:
    """The steps for a finding of one rule.

    meaning: what a finding of the rule reports.
    check: steps that show whether it is true, and why.
    end: steps that end it.
    prevent: steps that keep it from coming again.
    call: who can do this.

    Commands and names stand in backticks; capital letters in them stand for a name.
    """

    rule: str
    title: str
    meaning: str
    check: tuple[str, ...]
    end: tuple[str, ...]
    prevent: tuple[str, ...]
    call: str

    def sections(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the headings of the steps, with the steps, in the order of the page."""
        return [
            ("Check", self.check),
            ("End it", self.end),
            ("Keep it from coming again", self.prevent),
            ("Who to call", (self.call,)),
        ]


def runbook_url(rule: str, public_url: str = "") -> str:
    """Return the address of the runbook of a rule; without `public_url`, its path on the API."""
    return f"{public_url.rstrip('/')}/runbooks/{rule}"


@cache
def runbook(rule: str) -> Runbook | None:
    """Return the runbook of a rule or of the service levels; None if there is no such runbook."""
    if rule not in RUNBOOKS:
        return None
    content = files("headwater.health.findings").joinpath(f"runbook_pages/{rule}.toml").read_text()
    row = tomllib.loads(content)
    first = (_LIST.format(rule=rule),) if rule in RULES else ()
    return Runbook(
        rule=rule,
        title=RUNBOOKS[rule],
        meaning=" ".join(row["meaning"].split()),
        check=(*first, *row["check"]),
        end=tuple(row["end"]),
        prevent=tuple(row["prevent"]),
        call=row["call"],
    )
