"""Commands about data contracts: `contract check`, `import`, `list`, `show`, `diff`, `export`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.imports import Delivery, DryRun, EventsFile, Strict, deliver
from headwater.cli.known_contracts import KnownContracts, contract_pages
from headwater.cli.options import Home, Json, Profile, Url
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.client.times import instant_of
from headwater.errors import NotFoundError, QueryError
from headwater.importers.report import ImportReport

if TYPE_CHECKING:
    from rich.console import Console

    from headwater.governance.contracts.names import NamedDataset
    from headwater.schema.facets.contracts import ContractFacet
    from headwater.schema.headwater_facets import Event

HELP = "Check data contracts of the Open Data Contract Standard."
# The exit codes of `contract check`, by the worst state.
EXIT_CODES = {"KEPT": 0, "VIOLATED": 1, "UNKNOWN": 2}
_STYLES = {"KEPT": "green", "VIOLATED": "bold red", "UNKNOWN": "yellow"}
_COLUMNS = ("contract", "version", "dataset", "state", "broken", "unknown")
_CHANGE_COLUMNS = ("change", "clause", "column", "before", "after", "breaking")
Data = dict[str, Any]
Compiled = tuple["NamedDataset", "ContractFacet"]

PathArgument = Annotated[
    str, typer.Argument(help="A contract, or a folder of contracts.", metavar="FILE|DIR")
]
ServerName = Annotated[
    str, typer.Option("--server", help="Only the datasets on this server.", metavar="NAME")
]
NamespaceOption = Annotated[
    str, typer.Option(help="Namespace of the datasets, if the servers do not name them.")
]


@question
def check(
    backend: Backend,
    target: Annotated[
        str,
        typer.Argument(
            help="A folder or a file of contracts, or a dataset by name or urn.",
            show_default="every contract in the graph",
            metavar="[DIR|DATASET]",
        ),
    ] = "",
    server: ServerName = "",
    namespace: NamespaceOption = "",
) -> Result:
    """Check contracts against the newest data of their datasets.

    The contracts of files are checked as if they were in force; nothing is sent. The exit code is 0
    if every contract is kept, 1 if one is violated, 2 if one lacks facts.

    For example: headwater contract check contracts/ --json"""
    if target and Path(target).exists():
        found = list(_checked_files(backend, Path(target), server, namespace))
    else:
        urn = resolve(backend, target, ("DATASET",)) if target else None
        found = [one for one in contract_pages(backend, urn=urn) if one["isBinding"]]
    return _checked(found)


def _checked(found: list[Data]) -> Result:
    states = {one["state"] for one in found}
    worst = next((state for state in ("VIOLATED", "UNKNOWN") if state in states), "KEPT")
    state = worst if found else "UNKNOWN"
    rows = [_row(one) for one in found]
    return Result(
        data={"state": state, "contracts": found},
        columns=_COLUMNS,
        rows=rows,
        records=found,
        show=partial(_show_checked, found=found),
        note="" if found else "there is no contract to check",
        exit_code=EXIT_CODES[state],
    )


def _row(one: Data) -> Data:
    dataset = one["dataset"] or {}
    return {
        "contract": one["contractId"],
        "version": one["version"],
        "dataset": dataset.get("urn", ""),
        "state": one["state"],
        "broken": sum(clause["kept"] is False for clause in one["clauses"]),
        "unknown": sum(clause["kept"] is None for clause in one["clauses"]),
    }


def _show_checked(out: Console, *, found: list[Data]) -> None:
    from rich.markup import escape

    for one in found:
        row, style = _row(one), _STYLES[one["state"]]
        named = f"{row['contract']} {row['version']}  {row['dataset'] or 'no such dataset'}"
        out.print(f"[{style}]{one['state']}[/]  {escape(named)}", soft_wrap=True)
        for clause in one["clauses"]:
            if clause["kept"] is not True:
                out.print(f"  {escape(_clause(clause))}", soft_wrap=True)


def _clause(clause: Data) -> str:
    about = f" {clause['column']}" if clause["column"] else ""
    actual = clause["actual"] or "no facts"
    return f"{clause['clause']}{about}: {clause['expected']}; {actual}"


def _checked_files(backend: Backend, path: Path, server: str, namespace: str) -> Iterator[Data]:
    import msgspec

    for one, facet in _compiled(path, server, namespace, None):
        found = backend.ask(
            "contract_check",
            namespace=one.namespace,
            name=one.name,
            contract=msgspec.to_builtins(facet),
        )["contractCheck"]
        yield {**found, "isBinding": True, "namespace": one.namespace, "name": one.name}


def _compiled(
    path: Path, server: str, namespace: str, report: ImportReport | None
) -> Iterator[Compiled]:
    """Yield the datasets of contracts with what is promised about each.

    With a report, a file that is no contract is passed over. Raises ContractError without one.
    """
    from headwater.governance.contracts.compile import compile_contract
    from headwater.governance.contracts.names import named_datasets
    from headwater.governance.contracts.standard import (
        ContractError,
        contract_files,
        read_file,
    )

    for file in contract_files(path):
        try:
            document = read_file(file)
        except ContractError as error:
            if report is None:
                raise
            report.add_problem(str(file), error.message)
            continue
        named = list(named_datasets(document, server=server, namespace=namespace))
        if not named:
            message = "the contract names no dataset"
            if report is None:
                raise QueryError(f"{file}: {message}", hint="Name one with --namespace.")
            report.add_problem(str(file), f"{message}; --namespace names one")
        for one in named:
            yield one, compile_contract(document, one.object)


def import_contracts(
    path: PathArgument,
    server: ServerName = "",
    namespace: NamespaceOption = "",
    at: Annotated[
        str | None,
        typer.Option(
            help="When contracts without a date of creation take effect.",
            show_default="now",
            metavar="TIME",
        ),
    ] = None,
    strict: Strict = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    output: EventsFile = None,
    as_json: Json = False,
) -> None:
    """Import contracts: each version takes effect for the datasets on its servers.

    A version whose content is in the graph already is not sent again. For example:

    headwater contract import contracts/"""
    report = ImportReport()
    delivery = Delivery(home, url, profile, dry_run, output, as_json, strict)
    instant = instant_of("--at", at) or datetime.now(UTC)
    time = instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
    compiled = _compiled(Path(path), server, namespace, report)
    deliver(_events(compiled, time, report, delivery), report, delivery)


def _events(
    compiled: Iterator[Compiled], time: str, report: ImportReport, delivery: Delivery
) -> Iterator[Event]:
    from headwater.governance.contracts.compile import contract_event
    from headwater.governance.contracts.standard import ContractError

    known = KnownContracts(delivery.opener())
    for one, facet in compiled:
        report.counts["contracts"] += 1
        versions = known.versions_of(facet.contract_id, one.namespace, one.name)
        if (facet.version, facet.digest) in versions:
            report.counts["unchanged"] += 1
            continue
        try:
            yield contract_event(one, facet, time)
        except ContractError as error:
            report.add_problem(one.name, error.message)


@question
def list_contracts(backend: Backend) -> Result:
    """List the contracts in the graph, with the state of each.

    For example: headwater contract list --format csv"""
    found = list(contract_pages(backend))
    rows = [_row(one) for one in found]
    return Result(data={"contracts": found}, columns=_COLUMNS, rows=rows, records=found)


@question
def show(
    backend: Backend,
    contract: Annotated[str, typer.Argument(help="The id of a contract.", metavar="CONTRACT")],
) -> Result:
    """Show a contract: its clauses, and who broke it from when to when.

    For example: headwater contract show shop-orders"""
    found = list(contract_pages(backend, contractId=contract))
    if not found:
        raise NotFoundError(
            f"there is no contract {contract[:200]!r}", hint="See headwater contract list."
        )
    return Result(
        data={"contracts": found},
        columns=_COLUMNS,
        rows=[_row(one) for one in found],
        records=found,
        show=partial(_show_contracts, found=found),
    )


def _show_contracts(out: Console, *, found: list[Data]) -> None:
    from rich.markup import escape

    for one in found:
        _show_checked(out, found=[one])
        out.print(f"  owners: {escape(', '.join(one['owners']) or 'none')}", soft_wrap=True)
        versions = ", ".join(f"{each['version']} since {each['since']}" for each in one["versions"])
        out.print(f"  versions: {escape(versions)}", soft_wrap=True)
        for broken in one["violations"]:
            until = f" until {broken['until']}" if broken["until"] else ", still broken"
            out.print(
                f"  broken since {escape(broken['since'] + until)}: {escape(_clause(broken))}",
                soft_wrap=True,
            )
            run = f" in run {broken['run']['runId']}" if broken["run"] else ""
            job = broken["job"]["urn"] if broken["job"] else broken["begunBy"]
            out.print(f"    by {escape(job + run)}", soft_wrap=True)
            readers = ", ".join(job["urn"] for job in broken["consumers"])
            out.print(f"    read by {escape(readers or 'nobody')}", soft_wrap=True)


@question
def diff(
    backend: Backend,
    old: Annotated[str, typer.Argument(help="A contract in a file.", metavar="FILE")],
    new: Annotated[
        str,
        typer.Argument(
            help="A newer version in another file.",
            show_default="FILE is the newer one, compared with the graph",
            metavar="[NEW]",
        ),
    ] = "",
) -> Result:
    """Compare two versions of a contract, and name the changes that break consumers.

    For example: headwater contract diff orders-1.yaml orders-2.yaml"""
    import msgspec

    from headwater.governance.contracts.diff import contract_diff

    rows: list[Data] = []
    for before, after in _pairs(backend, old, new):
        for one in contract_diff(before, after):
            row = msgspec.to_builtins(one)
            rows.append({**row, "breaking": "yes" if row.pop("is_breaking") else ""})
    return Result(data={"changes": rows}, columns=_CHANGE_COLUMNS, rows=rows)


def _pairs(backend: Backend, old: str, new: str) -> Iterator[tuple[ContractFacet, ContractFacet]]:
    """Yield the versions of each object that both contracts have, and of those that one has."""
    import msgspec

    from headwater.schema.facets.contracts import ContractFacet

    if new:
        before, after = _objects(old), _objects(new)
    else:
        after = _objects(old)
        [contract] = {facet.contract_id for facet in after.values()} or {""}
        imported = list(contract_pages(backend, contractId=contract))
        facets = [msgspec.convert(one["content"], ContractFacet) for one in imported]
        before = {facet.object or "": facet for facet in facets}
        if not before:
            raise NotFoundError(
                f"the graph has no contract {contract[:200]!r}",
                hint="Give two files, or import the older one.",
            )
    for name in sorted({*before, *after}):
        known = before.get(name) or after[name]
        nothing = ContractFacet(contract_id=known.contract_id, version="")
        yield before.get(name, nothing), after.get(name, nothing)


def _objects(path: str) -> dict[str, ContractFacet]:
    """Return what the contract in a file promises about each of its objects."""
    from headwater.governance.contracts.compile import compile_contract
    from headwater.governance.contracts.standard import read_file

    document = read_file(Path(path))
    names = [one["name"] for one in document.get("schema") or ()]
    return {name: compile_contract(document, name) for name in names}


@question
def export(
    backend: Backend,
    dataset: Annotated[str, typer.Argument(help="A dataset by name or urn.", metavar="DATASET")],
) -> Result:
    """Write a draft of a contract from what the graph knows about a dataset, as YAML.

    For example: headwater contract export orders --output orders.odcs.yaml"""
    import yaml

    from headwater.governance.contracts.draft import draft_contract
    from headwater.governance.contracts.standard import require_valid

    urn = resolve(backend, dataset, ("DATASET",))
    document = draft_contract(backend.ask("contract_draft", id=urn)["node"])
    require_valid(document)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return Result(
        data=document,
        columns=("contract",),
        rows=[{"contract": text}],
        show=lambda out: out.print(text, markup=False, highlight=False, soft_wrap=True, end=""),
    )


COMMANDS: dict[str, Callable[..., None]] = {
    "check": check,
    "import": import_contracts,
    "list": list_contracts,
    "show": show,
    "diff": diff,
    "export": export,
}
