"""The command that approves what a policy would block: `approve`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from headwater.cli.options import Home, Json, Profile, Url, api_address
from headwater.errors import QueryError

_APPROVE = """mutation ($urn: ID!, $policy: String!, $reason: String!, $until: String) {
  edit: approve(urn: $urn, policy: $policy, reason: $reason, until: $until) { urn editId } }"""
_WITHDRAW = """mutation ($urn: ID!, $policy: String!) {
  edit: withdrawApproval(urn: $urn, policy: $policy) { urn editId } }"""


def approve(
    urn: Annotated[str, typer.Argument(help="The urn of a dataset or a job.")],
    policy: Annotated[
        str,
        typer.Option(
            help="The policy; for the gate: breaking-change, too-many-downstream or "
            "certified-affected.",
            metavar="NAME",
        ),
    ],
    reason: Annotated[str, typer.Option(help="Why it may be done.", metavar="TEXT")] = "",
    until: Annotated[
        str | None,
        typer.Option(help="The last day on which it counts: 2026-12-31.", metavar="DATE"),
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Withdraw the approval instead.")
    ] = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Approve, under one policy, what it would block on a dataset or a job.

    It is sent as an event: the graph keeps who approved it, when and why. The key needs the scope
    steward. For example: headwater approve dataset:db:orders --policy retention --reason Audit"""
    if withdraw and (reason or until):
        raise QueryError("--withdraw excludes --reason and --until")
    if not withdraw and not reason.strip():
        raise QueryError("--reason is missing", hint="Say why it may be done.")
    from headwater.client import Headwater

    address = api_address(home, url, profile)
    client = Headwater(address.url, api_key=address.api_key)
    names = {"urn": urn, "policy": policy}
    if withdraw:
        receipt = client.ask(_WITHDRAW, names)["edit"]
    else:
        receipt = client.ask(_APPROVE, {**names, "reason": reason, "until": until})["edit"]
    if as_json:
        print(json.dumps({**names, "withdrawn": withdraw, **receipt}))
        return
    done = "withdrawn" if withdraw else "approved"
    print(f"{done}: {policy} on {receipt['urn']}{f' until {until}' if until else ''}")


COMMANDS = {"approve": approve}
