"""Commands about the names of datasets: `aliases list`, `aliases merge`, `aliases split`."""

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


def list_names(home: Home = None, as_json: Json = False) -> None:
    """List the names that belong to another dataset: declared by a facet or by hand, and since
    when.
    """
    from headwater.cli import render

    view = graph_view(home)
    with closing(view.database):
        found = [_data(one) if as_json else _row(one) for one in _all(view)]
    render.print_rows(["name", "dataset", "declaredBy", "since", "via"], found, as_json=as_json)


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


def merge(
    namespace: Namespace,
    name: Name,
    other_namespace: OtherNamespace,
    other_name: OtherName,
    home: Home = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Decide that two names are one dataset; this outweighs every symlinks facet. It is sent as an
    event.
    """
    _decide(
        "merged",
        (namespace, name),
        (other_namespace, other_name),
        api_url(home, url),
        as_json=as_json,
    )


def split(
    namespace: Namespace,
    name: Name,
    other_namespace: OtherNamespace,
    other_name: OtherName,
    home: Home = None,
    url: Url = None,
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
        api_url(home, url),
        as_json=as_json,
    )


def _decide(
    decision: str, one: tuple[str, str], other: tuple[str, str], url: str, *, as_json: bool
) -> None:
    from headwater.client import Headwater

    client = Headwater(url)
    (client.merge_aliases if decision == "merged" else client.split_aliases)(one, other)
    names = [{"namespace": namespace, "name": name} for namespace, name in (one, other)]
    print(
        json.dumps({decision: names})
        if as_json
        else f"{decision}: {' '.join(one)} and {' '.join(other)}"
    )


HELP = "List, merge and split the names of datasets."
COMMANDS: dict[str, Callable[..., None]] = {"list": list_names, "merge": merge, "split": split}
