"""Writes the pages that the program itself knows best: `make docs`. A house test fails when one is out of date.

docs/cli.md          every command, its arguments and options, from the command line's own help
docs/cypher.md       every audit query, from the heads of the .cypher files
docs/schema.graphql  the GraphQL schema
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.core import TyperArgument, TyperOption

from headwater.cli import app
from headwater.cypher.audit import AUDIT_ROWS_MAX, AUDIT_SECONDS_MAX, PROCEDURES, ROWS_MAX
from headwater.cypher.library import Query, library
from headwater.graphql.schema import sdl

DOCS = Path(__file__).resolve().parent.parent / "docs"

CLI = """# The command `headwater`

*Written by `make docs` from the program itself.*

`headwater COMMAND --help` says the same in a terminal. Every command that prints data takes `--json`. Settings come
from the environment ([settings.md](settings.md)); an option wins over them.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | something went wrong that is not below |
| 2 | wrong arguments, settings or query |
| 3 | a local server, Java or its jars are not as they should be |
| 4 | events were refused |
| 5 | Neo4j, the API or the disk does not answer now; trying again may help |
| 6 | what was asked for is not in the graph |
| 130 | Ctrl-C |
"""

LISTED = "\n".join(f"- `{name}`" for name in sorted(PROCEDURES))

CYPHER = f"""# The auditors' library

*Written by `make docs` from the heads of the files in `headwater/cypher/audit/`.*

Each query is a file that can be pasted into Neo4j's own shell as it is. `headwater cypher NAME --param name=value`
runs one, `headwater cypher` lists them, `headwater cypher NAME --source` prints one, and `headwater cypher -` reads
Cypher of your own from standard input. All run read-only and for at most {AUDIT_SECONDS_MAX:.0f} s; a query of
the library returns at most {AUDIT_ROWS_MAX:,} rows, your own {ROWS_MAX:,}.

Your own is explained first, and refused when its plan does anything but read this graph. It may call these procedures
and no others:

{LISTED}

A parameter with a default may be left out. Times are given as `2026-01-31` or `2026-01-31T12:00:00Z`, lists as words
with commas between.
"""


def cli_page() -> str:
    command = typer.main.get_command(app)
    commands = dict(all_commands(command))
    rows = ((name, name.replace(" ", "-"), _line(one.help.split("\n\n")[0])) for name, one in commands.items())
    listed = "\n".join(f"| [`{name}`](#{anchor}) | {said} |" for name, anchor, said in rows)
    sections = "\n".join(_section(name, one.help, one.params) for name, one in commands.items())
    return f"{CLI}\n| command | what it does |\n|---|---|\n{listed}\n\n{sections}"


def all_commands(group: object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it: those of a group after its name."""
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
    return (argument.metavar or argument.name or "").upper() + ("..." if argument.nargs == -1 else "")


def _spelled(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {option.metavar or (option.name or '').upper()}"
    return ", ".join(f"`{spelling}{value}`" for spelling in option.opts)


def _default(option: TyperOption) -> str:
    # Where None is the default, the option's help says what that comes to.
    plain = option.default is None or option.is_flag or callable(option.default) or "[default" in (option.help or "")
    return "" if plain else f"  [default: {option.default}]"


def _line(text: str | None) -> str:
    return re.sub(r"\s+", " ", (text or "").strip()).replace("|", "\\|")


def cypher_page() -> str:
    audits = [found for name, found in sorted(library().items()) if name.startswith("audit/")]
    listed = "\n".join(f"| [`{_bare(found)}`](#{_bare(found)}) | {_first(found)} |" for found in audits)
    sections = "\n".join(_query(found) for found in audits)
    return f"{CYPHER}\n| query | for |\n|---|---|\n{listed}\n\n{sections}"


def _bare(found: Query) -> str:
    return found.name.removeprefix("audit/")


def _first(found: Query) -> str:
    """The first sentence of its purpose."""
    return _line(re.split(r"(?<=[.?])\s", found.purpose, maxsplit=1)[0])


def _query(found: Query) -> str:
    def parameters() -> Iterator[str]:
        for parameter in found.parameters:
            default = "needed" if parameter.required else "left out" if parameter.default is None else parameter.default
            yield f"| `{parameter.name}` | {parameter.type} | {default} |"

    table = "\n".join(["| parameter | type | default |", "|---|---|---|", *parameters()]) + "\n\n"
    return (
        f"## {_bare(found)}\n\n{found.purpose}\n\n{table if found.parameters else ''}"
        f"Returns {', '.join(f'`{column.strip()}`' for column in found.returns.split(','))}.\n\n    {found.example}\n"
    )


PAGES: dict[str, Callable[[], str]] = {"cli.md": cli_page, "cypher.md": cypher_page, "schema.graphql": sdl}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
