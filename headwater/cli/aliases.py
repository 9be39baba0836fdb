"""Commands about the names of datasets: `aliases list`, `aliases merge`, `aliases split`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

from headwater.cli.options import Home, Json, Profile, Url, api_address
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.client.address import Address
from headwater.client.backend import Backend

Namespace = Annotated[str, typer.Argument(help="Namespace of the one name.")]
Name = Annotated[str, typer.Argument(help="The one name.")]
OtherNamespace = Annotated[str, typer.Argument(help="Namespace of the other name.")]
OtherName = Annotated[str, typer.Argument(help="The other name.")]


@question
def list_names(backend: Backend) -> Result:
    """List the names that belong to another dataset: declared by a facet or by hand, and since
    when.

    For example: headwater aliases list --format csv"""
    found = _all(backend)
    rows = [
        {**one, **{key: _name_text(one[key]) for key in ("name", "dataset", "via")}}
        for one in found
    ]
    return Result(found, ("name", "dataset", "declaredBy", "since", "via"), rows, records=found)


def _all(backend: Backend) -> list[dict[str, Any]]:
    """Return every alias, page by page."""
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {"hasNextPage": True, "endCursor": None}
    while page["hasNextPage"]:
        connection = backend.ask("aliases", after=page["endCursor"])["aliases"]
        found += [edge["node"] for edge in connection["edges"]]
        page = connection["pageInfo"]
    return found


def _name_text(name: dict[str, str] | None) -> str:
    return f"{name['namespace']} {name['name']}" if name else ""


def merge(
    namespace: Namespace,
    name: Name,
    other_namespace: OtherNamespace,
    other_name: OtherName,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Decide that two names are one dataset; this outweighs every symlinks facet. It is sent as an
    event.
    """
    _decide(
        "merged",
        (namespace, name),
        (other_namespace, other_name),
        api_address(home, url, profile),
        as_json=as_json,
    )


def split(
    namespace: Namespace,
    name: Name,
    other_namespace: OtherNamespace,
    other_name: OtherName,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Decide that two names are two datasets; this outweighs every symlinks facet and undoes a
    merge.

    If both names are merged with a third name, split both from that one too.
    """
    _decide(
        "split",
        (namespace, name),
        (other_namespace, other_name),
        api_address(home, url, profile),
        as_json=as_json,
    )


def _decide(
    decision: str, one: tuple[str, str], other: tuple[str, str], address: Address, *, as_json: bool
) -> None:
    from headwater.client import Headwater

    client = Headwater(address.url, api_key=address.api_key)
    (client.merge_aliases if decision == "merged" else client.split_aliases)(one, other)
    names = [{"namespace": namespace, "name": name} for namespace, name in (one, other)]
    print(
        json.dumps({decision: names})
        if as_json
        else f"{decision}: {' '.join(one)} and {' '.join(other)}"
    )


HELP = "List, merge and split the names of datasets."
COMMANDS: dict[str, Callable[..., None]] = {"list": list_names, "merge": merge, "split": split}
