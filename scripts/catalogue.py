"""Write the generated pages: `make docs`. A test fails when one of them is out of date.

| page in docs/reference | source |
|---|---|
| cli.md | every command, its arguments and options, from the command line's own help |
| cypher.md | the lesson cypher/graph.md, and every audit query from the head of its file, with its answer on |
| | the demo from cypher/outputs (`scripts/audit_outputs.py`) |
| figures.md | every figure of the dashboards, from `headwater/health/figures/definitions.py` |
| policy-variables.md | every variable and ready-made rule of policies, from `headwater/governance/policies/*.toml` |
| service-levels.md | every service level, from `headwater/health/service_levels/definitions.py` |
| graph.md, graph.svg | every label, property and edge, from `headwater/schema/*.toml` |
| licences.md | the licences of the server's packages, from their metadata |
| schema.graphql | the GraphQL schema |
| ../how-to/runbooks | every runbook, from `headwater/health/findings/runbook_pages/` |
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.core import TyperArgument, TyperOption

from headwater.cli import app
from headwater.cypher.query_catalog import Query, load_queries
from headwater.cypher.sandbox.plan_check import (
    ALTERNATIVES_MAX,
    GROUPS_MAX,
    PARTS_MAX,
    PARTS_OF_STATEMENT_MAX,
)
from headwater.cypher.sandbox.policy import PROCEDURES
from headwater.cypher.sandbox.run import (
    AUDIT_ROWS_MAX,
    AUDIT_SECONDS_MAX,
    RESULT_BYTES_MAX,
    ROWS_MAX,
)
from headwater.cypher.sandbox.statement_check import (
    LITERAL_RANGE_MAX,
    NEEDLE_CHARACTERS_MAX,
    STEPS_MAX,
)
from headwater.cypher.sandbox.tokens import DEPTH_MAX, TEXT_CHARACTERS_MAX
from headwater.cypher.shell_text import shell_text
from headwater.graphql.schema import sdl
from headwater.health.figures.definitions import FIGURES, Direction, FigureDefinition, Unit
from headwater.health.service_levels.definitions import SERVICE_LEVELS, Budget, ServiceLevel
from scripts.graph_page import graph_page, graph_picture
from scripts.licences import licences_page
from scripts.policy_page import policy_variables_page
from scripts.runbook_pages import runbook_pages

DOCS = Path(__file__).resolve().parent.parent / "docs" / "reference"
OUTPUTS = DOCS / "cypher" / "outputs"
_GRAPH = DOCS / "cypher" / "graph.md"
_TAUGHT = re.compile(r"```cypher\n(.*?)\n```", re.DOTALL)

CLI = """# The command `headwater`

*Written by `make docs` from the program itself.*

`headwater COMMAND --help` says the same in a terminal. Every question takes `--url`, `--profile` or `--home`,
and `--format` and `--output` ([ask from anywhere](../how-to/ask-from-anywhere.md)). Settings come from the environment
([settings.md](settings.md)); an option wins over them.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | something went wrong that is not below |
| 2 | wrong arguments, settings or query |
| 3 | a local server, Java or its jars are not as they should be |
| 4 | events were refused |
| 5 | Neo4j, the API or the disk does not answer now; trying again may help |
| 6 | what was asked for is not in the graph |
| 7 | several nodes have the given name; their urns are listed |
| 130 | Ctrl-C |
"""

LISTED = textwrap.fill(
    "It may call " + ", ".join(f"`{name}`" for name in sorted(PROCEDURES)) + ".", 120
)

CYPHER = f"""# Cypher for auditors

*Written by `make docs` from the heads of the files in `headwater/cypher/audit/`, from `docs/reference/cypher/graph.md`, and from
the answers in `docs/reference/cypher/outputs/`: those of a real `headwater demo --home /demo`.*

Headwater runs the queries of the library, and Cypher of your own, on the command line and over HTTP. Each text below also
pastes into cypher-shell and into Neo4j Browser as it is: its `:param` lines set the parameters of the example, so change
them first. [For auditors](../how-to/audit.md) explains which door is read-only.

| | the library | your own |
|---|---|---|
| command line | `headwater cypher NAME --param name=value` | `headwater cypher -`, from standard input |
| HTTP | `POST /cypher/NAME`, the body its parameters as JSON | `POST /cypher`, the body `query` and `parameters` |
| listed by | `headwater cypher` | `GET /cypher` |
| to paste | `headwater cypher NAME --print --param name=value` | |

    curl -s localhost:8000/cypher/failed_runs -d '{{"since": "2026-01-01", "limit": 5}}'
    curl -s localhost:8000/cypher -d '{{"query": "MATCH (j:Job) RETURN j.name LIMIT $n", "parameters": {{"n": 5}}}}'

An answer is `{{"columns": [...], "rows": [{{...}}], "truncated": false}}`, a refusal
`{{"error": {{"code", "message", "hint"}}}}` with 400, 403 or 404. Over HTTP a key needs the scope `cypher` and every
namespace: nothing could hold Cypher to some. Each question is told to the audit log before it runs, and again with how
it came out.

All run read-only and for at most {AUDIT_SECONDS_MAX:.0f} s, within the memory that the server gives one transaction. A
query of the library returns at most {AUDIT_ROWS_MAX:,} rows, your own {ROWS_MAX:,}, and neither more than
{RESULT_BYTES_MAX // 2**20} MiB: `truncated` tells when there is more.

## What your own may do

It is judged before it runs: by its plan, which must be a plain read made of operators that are known to read, and by
its words, because a plan does not show what stands inside a loop of an expression, and Neo4j heeds no limit within one
expression. What is refused has another way of being said:

| refused | instead |
|---|---|
| anything that writes, LOAD CSV, SHOW, TERMINATE, USE, several statements | |
| procedures other than those below, functions of plugins | |
| EXPLAIN, PROFILE, and CYPHER with options other than `statefulShortestPlanningMode=all_if_possible` | the statement itself |
| `reduce(...)` | `UNWIND list AS x WITH sum(x) AS total` |
| `range(...)` in an expression, beyond {LITERAL_RANGE_MAX} | `UNWIND range(1, 1000) AS x` |
| a loop in a loop: `[x IN a WHERE any(y IN b ...)]` | `UNWIND` the outer list |
| a loop over a list of any length: `[x IN list WHERE ...]` | `nodes()`, `relationships()`, `labels()`, a property of a node, or {LITERAL_RANGE_MAX} values; `COLLECT {{ UNWIND list AS x WITH x WHERE ... RETURN x }}` |
| `toStringList(list)` and the like, of a list of any length | the same lists as in loops; `UNWIND list AS x` |
| more than {STEPS_MAX} comparisons, IN, CONTAINS, WHEN, `split`, `replace`, `tail`, `reverse` and slices | several statements |
| CONTAINS, `split`, `replace` and `btrim` with a text of any length to search for | up to {NEEDLE_CHARACTERS_MAX} characters in quotes or a parameter, `left(text, {NEEDLE_CHARACTERS_MAX})` |
| words like WITH, MATCH, AND as names: `n:With`, `n.call` | backticks |
| texts or lists put together in many steps, one on the other | return the parts |
| `=~` with a pattern that is put together, repeats a group, or has `*` and `+` more than once | `toLower(d.name) CONTAINS 'order'`, `STARTS WITH`, a parameter |
| more than {PARTS_MAX} relationships, paths and MATCH in one pattern, or {PARTS_OF_STATEMENT_MAX} in all | several statements, `*1..8` |
| more than {ALTERNATIVES_MAX} `\\|` and `&`, and AND and OR between labels; {GROUPS_MAX} levels of conditions | several statements |
| signs outside of ASCII, but for texts, comments and names in backticks | backticks |
| `\\uXXXX`, more than {TEXT_CHARACTERS_MAX:,} characters, {DEPTH_MAX} levels of brackets | parameters |

Neo4j looks at its limits between rows only. Should a statement go on after its time nevertheless, no other one begins until
it has ended, and `headwater up` restarts Neo4j after a minute; events wait meanwhile. The same happens when a statement fills
the memory of Neo4j with lists of long texts, which it does not count. The record of access names the caller.

{LISTED}

A parameter of the library with a default may be left out. On the command line times are given as `2026-01-31` or
`2026-01-31T12:00:00Z`, lists as words with commas between.
"""

_BETTER = {Direction.UP: "larger", Direction.DOWN: "smaller", Direction.NEITHER: "neither"}
FIGURES_HEAD = """# The figures of the dashboards

*Written by `make docs` from `headwater/health/figures/definitions.py`.*

GraphQL `figures`, `headwater figures`, the dashboards and the tiles show the same values. A value counts the nodes that
the key of the caller sees; dropped and deleted nodes never count. It is null if the denominator is 0. A figure is *out
of bounds* beyond its threshold, whichever side of it is better.

The API writes a snapshot of every figure once a day, for a caller who sees everything, and keeps 400 days
([decision 0030](../decisions/0030-daily-snapshots-of-figures.md)). So a key for some namespaces has values but no
trends. `headwater snapshot` writes one now; with `--days 90` it also fills the past days of the figures whose
backfill is the run history. There, coverage counts the edges that were known until that day, current or not.

Traversals have a time limit of 4 s for each figure; `isSampled` is true if one met a limit, or if only a sample was
measured.

A tag of a dataset or job is compared in small letters. `certified` and `canonical` also count as `certified=true`,
`=yes` or `=1`.

"""
SERVICE_LEVELS_HEAD = """# Service levels

*Written by `make docs` from `headwater/health/service_levels/definitions.py`.*

GraphQL `serviceLevels`, `headwater slo`, `/metrics` and the dashboards show the same values
([how to work with them](../how-to/service-levels.md)). A value is null, and the verdict `UNKNOWN`, if there was nothing
to measure. Nodes hidden from the key of the caller do not count; counters and samples count for everybody.

The *objective* is the share of good parts, or of good days, that is promised; the rest is the *budget of errors*.

    budget left = 1 - share of bad parts in the window / (1 - objective)
    burn rate   = share of bad parts in a short window / (1 - objective)

At a burn rate of 1 the budget lasts exactly the window. The rate of two pairs of windows is measured: an hour with its
last 5 minutes, and 6 hours with their last 30 minutes. Of a pair the lower rate counts, of the pairs the higher one. A
rate above 4 is urgent ([decision 0034](../decisions/0034-service-levels.md)). A level of the graph as it is has one
value a day: its budget takes the mean of the days, and its burn rate is that of now. If the budget counts days, the
burn rate takes the last 7 days, and a day without a value counts as good.

A level is `MISSED` if its value misses the target. It is `AT_RISK` if less than a quarter of the budget is left, or the
burn rate is above 4.

The API reads the counters of all its processes every 30 seconds. It evaluates all levels every five minutes, and keeps
samples of each hour for 90 days. So a level of counters starts empty with a new graph, and lags 30 seconds behind.

"""


def cli_page() -> str:
    command = typer.main.get_command(app)
    commands = dict(all_commands(command))
    rows = (
        (name, name.replace(" ", "-"), _line(one.help.split("\n\n")[0]))
        for name, one in commands.items()
    )
    listed = "\n".join(f"| [`{name}`](#{anchor}) | {purpose} |" for name, anchor, purpose in rows)
    sections = "\n".join(_section(name, one.help, one.params) for name, one in commands.items())
    return f"{CLI}\n| command | what it does |\n|---|---|\n{listed}\n\n{sections}"


def all_commands(group: object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return all commands by the words that call them; a command of a group comes after its
    name.
    """
    for name, one in getattr(group, "commands", {}).items():
        if hasattr(one, "commands"):
            yield from all_commands(one, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", one


def _section(name: str, help_text: str | None, parameters: list[object]) -> str:
    arguments = [one for one in parameters if isinstance(one, TyperArgument)]
    options = [one for one in parameters if isinstance(one, TyperOption)]
    words = [f"[{_metavar(one)}]" if not one.required else _metavar(one) for one in arguments]
    usage = " ".join(["headwater", name, *words, "[OPTIONS]"])
    rows = [f"| `{_metavar(one)}` | {_line(one.help)} |" for one in arguments]
    rows += [f"| {_spelled(one)} | {_line(one.help)}{_default(one)} |" for one in options]
    table = "\n".join(["| argument or option | meaning |", "|---|---|", *rows])
    return f"## {name}\n\n{_line(help_text)}\n\n    {usage}\n\n{table}\n"


def _metavar(argument: TyperArgument) -> str:
    return (argument.metavar or argument.name or "").upper() + (
        "..." if argument.nargs == -1 else ""
    )


def _spelled(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {option.metavar or (option.name or '').upper()}"
    return ", ".join(f"`{spelling}{value}`" for spelling in option.opts)


def _default(option: TyperOption) -> str:
    # If the default is None, the option describes the default in words.
    if isinstance(option.show_default, str):
        return f" [default: {option.show_default}]"
    plain = option.default in (None, "") or option.is_flag or callable(option.default)
    return "" if plain else f" [default: {option.default}]"


def _line(text: str | None) -> str:
    return re.sub(r"\s+", " ", (text or "").strip()).replace("|", "\\|")


def cypher_page() -> str:
    listed = "\n".join(
        f"| [`{bare(found)}`](#{bare(found)}) | {_first(found)} |" for found in audits()
    )
    sections = "\n".join(_query(found) for found in audits())
    return (
        f"{CYPHER}\n{_lesson()}\n## The library\n\n| query | for "
        f"|\n|---|---|\n{listed}\n\n{sections}"
    )


def audits() -> list[Query]:
    """Return the audit queries by name."""
    return [found for name, found in sorted(load_queries().items()) if name.startswith("audit/")]


def bare(found: Query) -> str:
    return found.name.removeprefix("audit/")


def taught() -> list[str]:
    """Return the statements in the lesson on the graph."""
    return _TAUGHT.findall(_GRAPH.read_text(encoding="utf-8"))


def _lesson() -> str:
    """Return the lesson with the answer below each statement, as a page of docs/reference."""
    number = itertools.count(1)
    page = _TAUGHT.sub(
        lambda match: f"{match.group()}\n\n{_output(f'example_{next(number)}')}",
        _GRAPH.read_text(encoding="utf-8"),
    )
    return re.sub(r"^#", "##", page, flags=re.MULTILINE).replace("](../", "](")


def _output(name: str) -> str:
    path = OUTPUTS / f"{name}.txt"
    return f"```text\n{path.read_text(encoding='utf-8') if path.exists() else ''}```"


def _first(found: Query) -> str:
    """Return the first sentence of a query's purpose."""
    return _line(re.split(r"(?<=[.?])\s", found.purpose, maxsplit=1)[0])


def _query(found: Query) -> str:
    def parameters() -> Iterator[str]:
        for parameter in found.parameters:
            default = (
                "needed"
                if parameter.required
                else "left out"
                if parameter.default is None
                else parameter.default
            )
            yield f"| `{parameter.name}` | {parameter.type} | {default} |"

    table = "\n".join(["| parameter | type | default |", "|---|---|---|", *parameters()]) + "\n\n"
    columns = ", ".join(f"`{column.strip()}`" for column in found.returns.split(","))
    return (
        f"### {bare(found)}\n\n{found.purpose}\n\n{table if found.parameters else ''}"
        f"Returns {columns}.\n\n```text\n{shell_text(found)}```\n\n{_output(bare(found))}\n"
    )


def figures_page() -> str:
    return FIGURES_HEAD + "\n".join(map(_figure, FIGURES.values()))


def _figure(figure: FigureDefinition) -> str:
    days = figure.window_days
    past = "run history" if figure.is_backfillable else "none before the first snapshot"
    rows = (
        ("numerator", figure.numerator),
        ("denominator", figure.denominator),
        ("window", f"the last {days} days" if days else "none: the graph as it is"),
        ("unit", figure.unit.lower()),
        ("better", _BETTER[figure.good]),
        ("threshold", _bound(figure, figure.threshold)),
        ("target", _bound(figure, figure.target)),
        ("lists", figure.lists),
        ("backfill", past),
    )
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"## {figure.name}\n\n{figure.title}.\n\n| | |\n|---|---|\n{table}\n"


def _bound(figure: FigureDefinition, value: float | None) -> str:
    return "none" if value is None else _value(figure.unit, value)


def _value(unit: Unit, value: float) -> str:
    if unit is Unit.SHARE:
        return f"{value:.0%}"
    return f"{value:g} s" if unit is Unit.SECONDS else f"{value:g}"


def service_levels_page() -> str:
    """Return the page of all service levels, in the order of their ids."""
    listed = "\n".join(
        f"| [{one.id}](#{one.id.lower()}) | {one.title} | {_target(one)} | {one.objective:.1%} |"
        for one in SERVICE_LEVELS.values()
    )
    head = "| level | title | target | objective |\n|---|---|---|---|"
    sections = "\n".join(map(_service_level, SERVICE_LEVELS.values()))
    return f"{SERVICE_LEVELS_HEAD}{head}\n{listed}\n\n{sections}"


def _service_level(level: ServiceLevel) -> str:
    budget = {
        Budget.PARTS: "the parts that the denominator counts",
        Budget.DAYS: "days on which the value misses the target",
    }
    figure = f"[{level.figure}](figures.md#{level.figure})" if level.figure else "none"
    rows = (
        ("name", level.name),
        ("value", level.value),
        ("numerator", level.numerator),
        ("denominator", level.denominator),
        ("window", f"the last {level.window_days} days"),
        ("source", level.origin),
        ("figure", figure),
        ("unit", level.unit.lower()),
        ("better", _BETTER[level.good]),
        ("target", _target(level)),
        ("objective", f"{level.objective:.1%}"),
        ("budget", budget[level.budget]),
    )
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"## {level.id}\n\n{level.title}.\n\n| | |\n|---|---|\n{table}\n"


def _target(level: ServiceLevel) -> str:
    sign = "at least" if level.good is Direction.UP else "at most"
    return f"{sign} {_value(level.unit, level.target)}"


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "cypher.md": cypher_page,
    "figures.md": figures_page,
    "policy-variables.md": policy_variables_page,
    "graph.md": graph_page,
    "graph.svg": graph_picture,
    "schema.graphql": sdl,
    **{f"../how-to/{name}": page for name, page in runbook_pages().items()},
    "service-levels.md": service_levels_page,
    "licences.md": licences_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print((DOCS / name).resolve().relative_to(DOCS.parent.parent))


if __name__ == "__main__":
    main()
