"""`headwater gate`: whether a branch may be merged, by its impact downstream."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, Profile, Url, api_address
from headwater.errors import HeadwaterError, QueryError

if TYPE_CHECKING:
    from headwater.gate.verdict import Report


def gate(
    base: Annotated[str, typer.Option(help="The branch to merge into.", metavar="BRANCH|COMMIT")],
    repository: Annotated[
        str, typer.Option(help="A folder in the repository.", metavar="DIR")
    ] = ".",
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    manifest: Annotated[
        str | None,
        typer.Option(
            help="dbt's manifest.json, with the full table name of each model.", metavar="FILE"
        ),
    ] = None,
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            help="Only datasets in namespaces that match; * is any text. Repeatable.",
            metavar="PATTERN",
        ),
    ] = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option("--map", help="The dataset of a table. Repeatable.", metavar="TABLE=URN"),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="The dialect of the SQL: postgres, snowflake, bigquery, ...")
    ] = "",
    max_downstream: Annotated[
        int, typer.Option(help="Fail if more assets downstream are affected.", min=0)
    ] = 5,
    policies: Annotated[
        str | None,
        typer.Option(help="A directory of policies to keep, or a file.", metavar="DIR"),
    ] = None,
    allow: Annotated[
        str,
        typer.Option(help="Pass for this reason, which the report shows.", metavar="REASON"),
    ] = "",
    allow_unknown: Annotated[
        bool, typer.Option(help="Do not block on readers whose code is not known.")
    ] = False,
    markdown: Annotated[
        str | None, typer.Option(help="Write a comment for the pull request.", metavar="FILE")
    ] = None,
    sarif: Annotated[str | None, typer.Option(help="Write SARIF 2.1.0.", metavar="FILE")] = None,
    junit: Annotated[str | None, typer.Option(help="Write JUnit XML.", metavar="FILE")] = None,
    as_json: Json = False,
) -> None:
    """Assess the table changes of a branch.

    Exit code 0: nothing downstream breaks. 1: something breaks, too many assets are affected, a
    certified one is, or a policy that blocks is violated. 2: the impact cannot be assessed, or the
    code of a reader is not known.

    The key is read from HEADWATER_API_KEY or the profile. In a GitHub workflow the report is also
    the summary of the step, and its findings are annotations."""
    from headwater.code_analysis.dbt.manifest import read_full_names
    from headwater.gate.client import GateClient
    from headwater.gate.resolve_datasets import ResolutionOptions, parse_map_options
    from headwater.gate.run import GateRequest, run_gate
    from headwater.governance.policies.files import read_required_files

    try:
        options = ResolutionOptions(
            tuple(namespace or ()),
            read_full_names(Path(manifest)) if manifest else {},
            parse_map_options(mapped or ()),
        )
        policy_files = tuple(read_required_files(policies)) if policies else ()
        address = api_address(home, url, profile)
        api = GateClient(address.url, api_key=address.api_key)
    except HeadwaterError as error:
        raise QueryError(error.message, hint=error.hint) from error
    limits = (max_downstream, allow.strip(), allow_unknown)
    request = GateRequest(Path(repository), base, dialect, options, *limits, policy_files)
    report = run_gate(request, api, on_progress=_show_progress)
    _write_reports(report, markdown, sarif, junit)
    _print_report(report, as_json=as_json)
    raise typer.Exit(report.exit_code)


def _show_progress(text: str) -> None:
    from headwater.gate.sanitize import one_line

    print(f"headwater: {one_line(text)}", file=sys.stderr)


def _write_reports(
    report: Report, markdown: str | None, sarif: str | None, junit: str | None
) -> None:
    from headwater.gate.reports.junit import render_junit
    from headwater.gate.reports.markdown import render_markdown
    from headwater.gate.reports.sarif import render_sarif

    comment = render_markdown(report).encode(errors="replace")
    _write(markdown, comment)
    _write(sarif, json.dumps(render_sarif(report), indent=2).encode() + b"\n")
    _write(junit, render_junit(report))
    _write(os.environ.get("GITHUB_STEP_SUMMARY") or None, comment, append=True)


def _write(path: str | None, content: bytes, *, append: bool = False) -> None:
    """Write a file, if a path is given.

    Raises QueryError, so that a report that is not written blocks."""
    if path is None:
        return
    try:
        with Path(path).open("ab" if append else "wb") as stream:
            stream.write(content)
    except OSError as error:
        raise QueryError(f"{path} cannot be written: {error.strerror}") from error


def _print_report(report: Report, *, as_json: bool) -> None:
    from headwater.gate.reports.annotations import render_annotations
    from headwater.gate.sanitize import one_line
    from headwater.gate.verdict import report_json

    if os.environ.get("GITHUB_ACTIONS") == "true":
        for annotation in render_annotations(report):
            print(annotation, file=sys.stderr if as_json else sys.stdout)
    if as_json:
        print(json.dumps(report_json(report), indent=2))
        return
    for finding in report.findings:
        position = f"{finding.file}:{finding.line}: " if finding.file else ""
        print(one_line(f"{finding.level}: {position}{finding.message}"))
    print(one_line(f"headwater gate {report.title}"))
    for urn, policy in report.approvals_needed:
        hint = f"a steward may approve: headwater approve {urn} --policy {policy} --reason ..."
        print(one_line(f"headwater: {hint}"), file=sys.stderr)


COMMANDS = {"gate": gate}
