"""`headwater gate`: whether a branch may be merged, by what it would break downstream."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, Url, api_url
from headwater.errors import HeadwaterError, QueryError

if TYPE_CHECKING:
    from headwater.gate.verdict import Report


def gate(
    base: Annotated[
        str, typer.Option(help="What the branch is to be merged into.", metavar="BRANCH|COMMIT")
    ],
    repository: Annotated[
        str, typer.Option(help="A folder in the repository.", metavar="DIR")
    ] = ".",
    home: Home = None,
    url: Url = None,
    manifest: Annotated[
        str | None,
        typer.Option(help="dbt's manifest.json, which tells where models lie.", metavar="FILE"),
    ] = None,
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            help="Only datasets of namespaces like this; * is anything. May be given again."
        ),
    ] = None,
    said: Annotated[
        list[str] | None,
        typer.Option("--map", help="table=urn, which dataset a table is; may be given again."),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="What the SQL is written in: postgres, snowflake, bigquery, ...")
    ] = "",
    max_downstream: Annotated[
        int, typer.Option(help="Fail when more assets downstream are affected.", min=0)
    ] = 5,
    allow: Annotated[
        str, typer.Option(help="Let it through for this reason, which the report shows.")
    ] = "",
    markdown: Annotated[
        str | None, typer.Option(help="Write a comment for the pull request.", metavar="FILE")
    ] = None,
    sarif: Annotated[str | None, typer.Option(help="Write SARIF 2.1.0.", metavar="FILE")] = None,
    junit: Annotated[str | None, typer.Option(help="Write JUnit XML.", metavar="FILE")] = None,
    as_json: Json = False,
) -> None:
    """Judge what a branch changes of tables: exit code 0 when nothing downstream breaks, 1 when something does, more is
    affected than may be, or something certified is; 2 when that cannot be assessed.

    A key is taken from HEADWATER_API_KEY. In a GitHub workflow the report is also the summary of the step, and its
    findings are annotations."""
    from headwater.code_analysis.dbt.project import read_manifest
    from headwater.gate.client import GateClient
    from headwater.gate.resolve_datasets import ResolutionOptions, parse_map_options
    from headwater.gate.run import GateRequest, run_gate
    from headwater.gate.sanitize import line

    try:
        names = ResolutionOptions(
            tuple(namespace or ()),
            read_manifest(Path(manifest)) if manifest else {},
            parse_map_options(said or ()),
        )
        where = api_url(home, url)
    except HeadwaterError as error:
        raise QueryError(error.message, hint=error.hint) from error
    question = GateRequest(Path(repository), base, dialect, names, max_downstream, allow.strip())
    api = GateClient(where)
    report = run_gate(
        question, api, told=lambda text: print(f"headwater: {line(text)}", file=sys.stderr)
    )
    _write_files(report, markdown, sarif, junit)
    _say(report, as_json=as_json)
    raise typer.Exit(report.exit_code)


def _write_files(
    report: Report, markdown: str | None, sarif: str | None, junit: str | None
) -> None:
    from headwater.gate.reports.junit import junit as junit_of
    from headwater.gate.reports.markdown import markdown as markdown_of
    from headwater.gate.reports.sarif import sarif as sarif_of

    comment = markdown_of(report).encode(errors="replace")
    _write(markdown, comment)
    _write(sarif, json.dumps(sarif_of(report), indent=2).encode() + b"\n")
    _write(junit, junit_of(report))
    _write(os.environ.get("GITHUB_STEP_SUMMARY") or None, comment, append=True)


def _write(path: str | None, content: bytes, *, append: bool = False) -> None:
    """Raises QueryError, so that a report that is not written blocks."""
    if path is None:
        return
    try:
        with Path(path).open("ab" if append else "wb") as stream:
            stream.write(content)
    except OSError as error:
        raise QueryError(f"{path} cannot be written: {error.strerror}") from error


def _say(report: Report, *, as_json: bool) -> None:
    from headwater.gate.reports.annotations import commands
    from headwater.gate.sanitize import line
    from headwater.gate.verdict import report_json

    in_github = os.environ.get("GITHUB_ACTIONS") == "true"
    if in_github:
        for command in commands(report):
            print(command, file=sys.stderr if as_json else sys.stdout)
    if as_json:
        print(json.dumps(report_json(report), indent=2))
        return
    for finding in report.findings:
        where = f"{finding.file}:{finding.line}: " if finding.file else ""
        print(line(f"{finding.level}: {where}{finding.message}"))
    print(line(f"headwater gate {report.title}"))


COMMANDS = {"gate": gate}
