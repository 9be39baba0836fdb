"""Commands about the names of datasets: `symlinks list`, `symlinks join`, `symlinks part`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, Json, Url, api_url, graph_view

if TYPE_CHECKING:
    from headwater.lineage.questions.aliases import Alias
    from headwater.lineage.view import GraphView

Namespace = Annotated[str, typer.Argument(help="Namespace of the one name.")]
Name = Annotated[str, typer.Argument(help="The one name.")]
OtherNamespace = Annotated[str, typer.Argument(help="Namespace of the other name.")]
OtherName = Annotated[str, typer.Argument(help="The other name.")]


def listed(home: Home = None, as_json: Json = False) -> None:
    """List the names that go by another dataset: which, whether by a facet or by hand, and since when."""
    from headwater.cli import render as show

    view = graph_view(home)
    with closing(view.database):
        found = [_data(one) if as_json else _row(one) for one in _all(view)]
    show.rows(["name", "dataset", "declaredBy", "since", "via"], found, as_json=as_json)


def _all(view: GraphView) -> Iterator[Alias]:
    from headwater.lineage.questions.aliases import ALIASES_MAX, list_aliases

    after = ""
    while page := list_aliases(view, first=ALIASES_MAX, after=after):
        yield from page
        after = page[-1].urn


def _data(one: Alias) -> dict[str, object]:
    via = one.via and {"namespace": one.via.namespace, "name": one.via.name}
    return {
        "name": {"namespace": one.name.namespace, "name": one.name.name},
        "dataset": {"namespace": one.dataset.namespace, "name": one.dataset.name},
        "declaredBy": one.declared_by,
        "since": one.since,
        "via": via,
    }


def _row(one: Alias) -> dict[str, object]:
    names = {"name": one.name, "dataset": one.dataset, "via": one.via}
    return {
        **_data(one),
        **{key: name and f"{name.namespace} {name.name}" for key, name in names.items()},
    }


def join(
    namespace: Namespace,
    name: Name,
    other_namespace: OtherNamespace,
    other_name: OtherName,
    home: Home = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Decide that two names are one dataset, whatever symlinks facets say. Sent as an event, so that it lasts."""
    _decide(
        "joined",
        (namespace, name),
        (other_namespace, other_name),
        api_url(home, url),
        as_json=as_json,
    )


def part(
    namespace: Namespace,
    name: Name,
    other_namespace: OtherNamespace,
    other_name: OtherName,
    home: Home = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Decide that two names are two datasets, whatever symlinks facets say; undoes a join. Both must also be parted
    from a third name that they are joined to."""
    _decide(
        "parted",
        (namespace, name),
        (other_namespace, other_name),
        api_url(home, url),
        as_json=as_json,
    )


def _decide(
    verdict: str, one: tuple[str, str], other: tuple[str, str], url: str, *, as_json: bool
) -> None:
    from headwater.client import Headwater

    client = Headwater(url)
    (client.merge_aliases if verdict == "joined" else client.split_aliases)(one, other)
    names = [{"namespace": namespace, "name": name} for namespace, name in (one, other)]
    print(
        json.dumps({verdict: names})
        if as_json
        else f"{verdict}: {' '.join(one)} and {' '.join(other)}"
    )


HELP = "Which names are one dataset: list them, join two, part two."
COMMANDS: dict[str, Callable[..., None]] = {"list": listed, "join": join, "part": part}
