"""YAML read so that every value keeps the line on which it stands.

Texts stay texts: `on`, `yes` and dates are no other type than in JSON. The limits are those of
`bounded_yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headwater.governance.policies.models import PolicyError

_SCALARS = {
    "tag:yaml.org,2002:bool": ("true", "false"),
    "tag:yaml.org,2002:null": ("", "~", "null"),
}
_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


@dataclass
class Document:
    """A YAML document as JSON values, and the line of each by its path."""

    value: Any
    lines: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def line_of(self, path: tuple[Any, ...]) -> int:
        """Return the line of a value, or of the innermost value around it that has one."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_documents(text: str) -> Iterator[Document]:
    """Yield the documents of a YAML text that are not empty.

    Raises:
        PolicyError: The text is no YAML, or uses aliases, repeated keys, deep nesting or too many
          values.
    """
    import yaml

    from headwater.bounded_yaml import BoundedLoader

    try:
        for node in yaml.compose_all(text, Loader=BoundedLoader):
            if node is not None:
                document = Document(None)
                document.value = _value(node, (), document.lines)
                if document.value is not None:
                    yield document
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise PolicyError(f"{line}: {error.problem or error.context or 'is no YAML'}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PolicyError(f"1: is no YAML: {' '.join(str(error).split())[:200]}") from None


def _value(node: Any, path: tuple[Any, ...], lines: dict[tuple[Any, ...], int]) -> Any:
    line = node.start_mark.line + 1
    lines[path] = line
    if node.id == "sequence":
        return [_value(item, (*path, index), lines) for index, item in enumerate(node.value)]
    if node.id == "mapping":
        return _mapping(node, path, lines)
    return _scalar(node, line)


def _mapping(node: Any, path: tuple[Any, ...], lines: dict[tuple[Any, ...], int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in node.value:
        line = key.start_mark.line + 1
        if key.id != "scalar":
            raise PolicyError(f"{line}: a key must be a text")
        found[key.value] = _value(item, (*path, key.value), lines)
        lines[(*path, key.value)] = line
    return found


def _scalar(node: Any, line: int) -> Any:
    text: str = node.value
    if node.style is not None:
        return text
    if node.tag == _INT or node.tag == _FLOAT:
        try:
            return int(text) if node.tag == _INT else float(text)
        except ValueError:
            return text
    lowered = text.lower()
    if lowered in _SCALARS["tag:yaml.org,2002:bool"]:
        return lowered == "true"
    if lowered in _SCALARS["tag:yaml.org,2002:null"]:
        return None
    if node.tag.startswith("!"):
        raise PolicyError(f"{line}: the tag {node.tag[:40]} is not supported")
    return text
