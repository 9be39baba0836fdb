"""The command `policy`: check policies on the graph, test them, explain them, compare them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from headwater.cli.backend.choice import open_backend
from headwater.cli.options import Home, Json, Profile, Url
from headwater.cli.policy_competing import competing
from headwater.cli.policy_dbt import dbt
from headwater.client.backend import Backend
from headwater.client.names import resolve
from headwater.errors import HeadwaterError, QueryError

if TYPE_CHECKING:
    from headwater.governance.policies.files import PolicyFile
    from headwater.governance.policies.models import Policy

HELP = "Check policies on the graph, test them, explain them, compare them."
VIOLATED_EXIT_CODE, UNKNOWN_EXIT_CODE = 1, 2
_PAGE = 1_000
_SHOWN_MAX = 100
DAYS_MAX = 90
Data = dict[str, Any]
Directory = Annotated[
    str, typer.Argument(help="A directory of policies, or a file.", metavar="DIR")
]


def check(
    directory: Directory,
    proposed: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--for",
            help="Check a proposed action on a node: inference, export, read, write, change, "
            "drop or delete.",
            metavar="ACTION NODE",
        ),
    ] = None,
    delete: Annotated[
        str | None, typer.Option(help="Check whether a node may be deleted.", metavar="NODE")
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option(help="Check this node only, by name or urn. Repeatable.", metavar="NODE"),
    ] = None,
    job: Annotated[
        str, typer.Option(help="With --for: the urn of the job that acts.", metavar="URN")
    ] = "",
    purpose: Annotated[str, typer.Option(help="With --for: what the data is for.")] = "",
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Check policies on the graph as it is, or on a proposed action.

    Exit code 0: nothing violates a policy. 1: something does. 2: it cannot be assessed: a policy is
    wrong, a node or a fact is unknown, or no API answers.

    For example: headwater policy check policies --for inference churn-model"""
    from headwater.governance.policies.files import read_required_files

    try:
        if sum(bool(one) for one in (proposed, delete, node)) > 1:
            raise QueryError("give only one of --for, --delete and --node")
        action, acted_on = ("delete", delete) if delete else proposed or ("", None)
        files = read_required_files(directory)
        with open_backend(url, profile, home) as backend:
            names = [acted_on] if acted_on else list(node or ())
            urns = [_resolved(backend, name) for name in names] or None
            change = {"action": action, "job": job, "purpose": purpose} if action else None
            found = _check(backend, files, nodes=urns, change=change)
    except HeadwaterError as error:
        _fail(error, as_json=as_json)
    status = _status(found)
    if as_json:
        typer.echo(json.dumps({"status": status, **found}, indent=2))
    else:
        _print(found)
    raise typer.Exit({"fine": 0, "violated": VIOLATED_EXIT_CODE}.get(status, UNKNOWN_EXIT_CODE))


def run_examples(directory: Directory, as_json: Json = False) -> None:
    """Run the examples in the files of policies. No graph is needed.

    Exit code 0: each example gives what it expects. 1: one does not. 2: a policy is wrong."""
    from headwater.governance.policies.cases import run_cases
    from headwater.governance.policies.files import load_policies

    results = run_cases(load_policies(directory), datetime.now(UTC))
    failed = [one for one in results if not one.passes]
    if as_json:
        rows = [
            {
                "policy": one.policy,
                "example": one.case.name,
                "expected": one.case.expected,
                "outcome": one.outcome,
                "message": one.message,
                "passes": one.passes,
            }
            for one in results
        ]
        typer.echo(json.dumps({"examples": rows}, indent=2))
    else:
        for one in failed:
            detail = f": {one.message}" if one.message else ""
            typer.echo(
                f"{one.policy}: {one.case.name}: expected {one.case.expected}, "
                f"but it is {one.outcome}{detail}"
            )
        typer.echo(f"{len(results)} examples, {len(failed)} failed")
    if failed:
        raise typer.Exit(VIOLATED_EXIT_CODE)


def explain(
    directory: Directory,
    name: Annotated[str, typer.Argument(help="The name of a policy.", metavar="POLICY")],
    node: Annotated[
        str | None,
        typer.Argument(help="A node, by name or urn: show its facts.", metavar="[NODE]"),
    ] = None,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
) -> None:
    """Show the condition of a policy, what it reads, and what it gives for a node."""
    from headwater.governance.policies.files import load_policies
    from headwater.governance.policies.variables import VARIABLES

    policies = {one.name: one for one in load_policies(directory).policies}
    if name not in policies:
        raise QueryError(f"there is no policy {name[:80]!r}", hint=f"Policies: {list(policies)}.")
    policy = policies[name]
    typer.echo(f"{policy.name}: {policy.title or policy.description}".rstrip(": "))
    typer.echo(f"file      {policy.file}")
    typer.echo(f"on        {', '.join(sorted(policy.subjects))}")
    typer.echo(f"enforce   {policy.enforce}, {policy.severity}")
    if policy.rule:
        typer.echo(f"rule      {policy.rule} {json.dumps(dict(policy.arguments))}")
    typer.echo("condition (true is a violation)")
    for line in policy.source.splitlines():
        typer.echo(f"  {line}")
    for variable in policy.condition.variables:
        typer.echo(f"  {variable} ({VARIABLES[variable].type}): {VARIABLES[variable].meaning}")
    if node is not None:
        with open_backend(url, profile, home) as backend:
            _explain_node(backend, policy, _resolved(backend, node))


def diff(
    before: Annotated[str, typer.Argument(help="The policies of now.", metavar="DIR1")],
    after: Annotated[str, typer.Argument(help="The policies to be.", metavar="DIR2")],
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Show which violations appear and vanish on the graph of now with other policies."""
    from headwater.governance.policies.files import read_required_files

    with open_backend(url, profile, home) as backend:
        found = [_check(backend, read_required_files(directory)) for directory in (before, after)]
    old, new = (_by_key(each["violations"]) for each in found)
    appear = [new[key] for key in sorted(new.keys() - old.keys())]
    vanish = [old[key] for key in sorted(old.keys() - new.keys())]
    if as_json:
        typer.echo(json.dumps({"appear": appear, "vanish": vanish}, indent=2))
        return
    for mark, some in (("+", appear), ("-", vanish)):
        for one in some:
            typer.echo(f"{mark} {one['severity']} {one['policy']} {one['urn']}: {one['message']}")
    typer.echo(f"{len(appear)} violations appear, {len(vanish)} vanish")


def history(
    directory: Directory,
    days: Annotated[int, typer.Option(help="How many days back.", min=1, max=DAYS_MAX)] = 30,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Show what the policies would have reported on each of the last days, and to whom.

    Each dataset that was dropped or deleted in these days is a proposed delete at that time: the
    policies that would have blocked it are listed, with those who would have been told. The lineage
    and the age of data are those of the day. Owners, tags, types and descriptions are those of now:
    earlier ones are not kept. So a policy on these cannot be known for the past."""
    from headwater.governance.policies.files import read_required_files

    files, now = read_required_files(directory), datetime.now(UTC)
    by_key: dict[tuple[str, str], Data] = {}
    with open_backend(url, profile, home) as backend:
        for back in range(days, -1, -1):
            instant = now - timedelta(days=back)
            for one in _check(backend, files, as_of=instant.isoformat())["violations"]:
                if one["since"] and datetime.fromisoformat(one["since"]) > instant:
                    continue
                row = by_key.setdefault(_key(one), {**one, "days": 0, "first": _day(instant)})
                row.update(last=_day(instant), days=row["days"] + 1)
        since = (now - timedelta(days=days)).isoformat()
        removed = _check(backend, files, removed_since=since)
    removals = [*removed["violations"], *removed["unknown"]]
    rows = sorted(by_key.values(), key=lambda one: (one["severity"], one["first"], _key(one)))
    if as_json:
        typer.echo(json.dumps({"days": days, "violations": rows, "removals": removals}, indent=2))
        return
    from headwater.cli.render import with_noun

    for row in rows:
        typer.echo(
            f"{row['severity']} {row['policy']} {row['urn']}: {with_noun(row['days'], 'day')}, "
            f"from {row['first']} to {row['last']}; {row['enforce']}; to {_told(row)}"
        )
    for row in removals:
        typer.echo(
            f"{row['severity']} {row['policy']} {row['urn']}: removed {row['since']}; "
            f"{row['enforce']}; to {_told(row)}: {row['unknown'] or row['message']}"
        )
    typer.echo(
        f"{with_noun(len(rows), 'violation')} in {with_noun(days, 'day')}, "
        f"{with_noun(len(removals), 'removal')} against a policy"
    )


def _told(row: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys([*row["owners"], *row["notify"]])) or "nobody"


def _check(
    backend: Backend,
    files: Iterable[PolicyFile],
    *,
    nodes: Sequence[str] | None = None,
    change: Mapping[str, str] | None = None,
    as_of: str | None = None,
    removed_since: str | None = None,
) -> Data:
    """Return what the policies say, as JSON: violations, what is unknown, and counts."""
    variables = {
        "files": [{"path": file.path, "text": file.text} for file in files],
        "nodes": nodes,
        "change": change,
        "asOf": as_of,
        "removedSince": removed_since,
        "first": _PAGE,
    }
    found: list[Data] = []
    after: str | None = None
    while True:
        page = backend.ask("policy_check", **variables, after=after)["policyCheck"]
        found += [edge["node"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    if page["policyCount"] == 0 and not found and not change and not removed_since:
        raise QueryError("none of the policies concerns the graph as it is", hint="Use --for.")
    return {
        "violations": [one for one in found if one["unknown"] is None],
        "unknown": [one for one in found if one["unknown"] is not None],
        "nodes": page["nodeCount"],
        "policies": page["policyCount"],
        "missing": page["missing"],
    }


def _status(found: Data) -> str:
    if found["violations"]:
        return "violated"
    return "unknown" if found["unknown"] or found["missing"] else "fine"


def _print(found: Data) -> None:
    from headwater.cli.render import with_noun

    for one in found["violations"][:_SHOWN_MAX]:
        owners = ", ".join(one["owners"]) or "no owner"
        typer.echo(f"{one['severity']} {one['enforce']} {one['policy']}: {one['message']}")
        typer.echo(f"   {one['urn']} ({owners})")
    for one in found["unknown"][:_SHOWN_MAX]:
        typer.echo(f"?  {one['policy']}: {one['urn']}: {one['unknown']}")
    for urn in found["missing"][:_SHOWN_MAX]:
        typer.echo(f"?  {urn}: there is no such node")
    policies = with_noun(found["policies"], "policy", "policies")
    violations = with_noun(len(found["violations"]), "violation")
    typer.echo(
        f"{policies} on {with_noun(found['nodes'], 'node')}: {violations}, "
        f"{len(found['unknown'])} cannot be assessed"
    )


def _explain_node(backend: Backend, policy: Policy, urn: str) -> None:
    """Print the facts of a node that the condition reads, and what it gives."""
    from headwater.governance.policies.files import PolicyFile
    from headwater.governance.policies.models import SUBJECTS_OF_ACTION

    subjects, source = sorted(policy.subjects), policy.source
    facts = {"name": "facts", "on": subjects, "condition": f"true || ({source})"}
    own = {**facts, "name": policy.name, "condition": source}
    files = [PolicyFile("explained.yaml", json.dumps({"policies": [facts, own]}))]
    change = None
    if not policy.is_standing:
        actions = (name for name, some in SUBJECTS_OF_ACTION.items() if some & policy.subjects)
        change = {"action": next(actions)}
    found = _check(backend, files, nodes=[urn], change=change)
    if found["missing"]:
        raise QueryError(f"there is no node {urn}")
    for one in found["violations"]:
        if one["policy"] == "facts":
            for name, value in one["evidence"].items():
                typer.echo(f"  {name} = {json.dumps(value)}")
    kept = [one for one in (*found["violations"], *found["unknown"]) if one["policy"] != "facts"]
    reason = f" ({kept[0]['unknown']})" if kept and kept[0]["unknown"] else ""
    status = _status({**found, "violations": [one for one in kept if not one["unknown"]]})
    typer.echo(f"{urn}: {status}{reason}")


def _resolved(backend: Backend, name: str) -> str:
    """Return the urn of a node given by its name or urn."""
    return resolve(backend, name)


def _by_key(violations: Iterable[Data]) -> dict[tuple[str, str], Data]:
    return {_key(one): one for one in violations}


def _key(violation: Mapping[str, Any]) -> tuple[str, str]:
    return violation["policy"], violation["urn"]


def _day(instant: datetime) -> str:
    return instant.date().isoformat()


def _fail(error: HeadwaterError, *, as_json: bool) -> NoReturn:
    """Raise an error with the exit code of what cannot be assessed."""
    if as_json:
        typer.echo(json.dumps({"status": "unknown", "error": error.message, "hint": error.hint}))
    raise QueryError(error.message, hint=error.hint) from error


COMMANDS = {
    "check": check,
    "test": run_examples,
    "explain": explain,
    "diff": diff,
    "history": history,
    "competing": competing,
    "dbt": dbt,
}
