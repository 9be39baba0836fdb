"""The differences between two schemas."""

from __future__ import annotations

# The types of columns by their dotted path.
Fields = dict[str, str | None]


def drift(old: Fields, new: Fields) -> list[str]:
    """Return the changes by column: `added: b`, `dropped: a`, `retyped: c from int to string`."""
    added = [(name, f"added: {name}") for name in new.keys() - old.keys()]
    dropped = [(name, f"dropped: {name}") for name in old.keys() - new.keys()]
    retyped = [
        (name, f"retyped: {name} from {old[name]} to {new[name]}")
        for name in new.keys() & old.keys()
        if new[name] != old[name]
    ]
    return [words for _, words in sorted(added + dropped + retyped)]
