"""The note of an empty list whose namespace no node has."""

from __future__ import annotations

from difflib import get_close_matches

from headwater.client.backend import Backend

NAMESPACES_MAX = 200
_SHOWN_MAX = 3


def note_namespace(backend: Backend, namespace: str | None) -> str:
    """Return a note on a namespace that no node has; it names similar ones.

    The note is empty if the namespace exists. Only the first `NAMESPACES_MAX` are compared.
    """
    if not namespace:
        return ""
    found = backend.ask("namespaces", first=NAMESPACES_MAX)["namespaces"]
    names = {node["name"].casefold(): node["name"] for node in found["nodes"]}
    if namespace in names.values():
        return ""
    text = namespace.casefold()
    similar = [names[key] for key in get_close_matches(text, names, n=_SHOWN_MAX)]
    similar += [name for key, name in names.items() if text in key and name not in similar]
    notes = [] if found["pageInfo"]["hasNextPage"] else [f"no node has the namespace {namespace!r}"]
    if similar:
        notes.append(f"similar namespaces: {', '.join(similar[:_SHOWN_MAX])}")
    return "; ".join(notes)
