"""dbt's SQL made plain enough to parse, without running its Jinja.

`ref` and `source` become names of tables, `config` nothing, a variable that is set to a text that text, and the few
macros of dbt_utils that every project uses what they make. Whatever else stands between braces becomes a name that is
nobody's, and its text is said to be unknown: it may hold a reference. Of an `if` both ways are rendered, one after the
other, a loop goes round once. Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

# The name that stands where nobody knows what does.
UNKNOWN = "headwater_unknown"
_OPENING = re.compile(r"\{[{%#]")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}"}
MARKS_MAX = 2_000
_TEXT = r"""['"]([^'"]*)['"]"""
_REF = re.compile(rf"ref\(\s*{_TEXT}\s*(?:,\s*{_TEXT}\s*)?(?:,\s*(?:v|version)\s*=\s*\S+\s*)?\)")
_SOURCE = re.compile(rf"source\(\s*{_TEXT}\s*,\s*{_TEXT}\s*\)")
_SET = re.compile(rf"set\s+(\w+)\s*=\s*{_TEXT}")
_STAR = re.compile(r"dbt_utils\.star\(.*\)", re.DOTALL)
_KEY = re.compile(r"dbt_utils\.(?:generate_)?surrogate_key\(\s*\[(.*)\]\s*\)", re.DOTALL)
_SILENT = re.compile(r"(config|log|print|exceptions\.\w+|set_sql_header)\(.*\)", re.DOTALL)
_HARMLESS = re.compile(
    r"(this|target\.\w+|invocation_id|run_started_at|model\.\w+|(env_)?var\(.*\))", re.DOTALL
)
_OPENERS = ("if", "for", "macro", "call", "filter", "test", "docs", "materialization", "raw")
# Bodies that belong to something else than the model.
_APART = ("macro", "test", "docs", "materialization", "call")


@dataclass
class RenderedTemplate:
    """The texts to parse, one for each way through the branches, and what in them could not be told."""

    texts: list[str]
    unknown: list[str] = field(default_factory=list)


def has_jinja(text: str) -> bool:
    return next(_marks(text), None) is not None


def _marks(text: str) -> Iterator[tuple[int, int]]:
    """Where each pair of braces begins and ends."""
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        end = text.find(_CLOSING[opening[0]], opening.end())
        if end < 0:
            position = opening.end()
            # None of the kind is closed any more; those of the other kinds may be.
            if all(text.find(closing, position) < 0 for closing in _CLOSING.values()):
                return
            continue
        position = end + 2
        yield opening.start(), position


def render(text: str) -> RenderedTemplate:
    """The SQL of a model of dbt."""
    rendered = RenderedTemplate([])
    marks = list(islice(_marks(text), MARKS_MAX + 1))
    if len(marks) > MARKS_MAX:
        return RenderedTemplate([], [f"there are more than {MARKS_MAX} pairs of braces"])
    for first in (True, False):
        found = _Rendering(rendered.unknown, first).render(text, marks)
        if found not in rendered.texts:
            rendered.texts.append(found)
        if "{{" in found or "{%" in found:
            rendered.unknown.append("the braces of Jinja do not end")
    return rendered


class _Rendering:
    """One way through: into the first branch of every `if`, or into the last."""

    def __init__(self, unknown: list[str], first: bool) -> None:
        self.unknown = unknown
        self.first = first
        self.names: dict[str, str] = {}
        # What is open: the word, and whether its body is rendered.
        self.open: list[tuple[str, bool]] = []

    def render(self, text: str, marks: list[tuple[int, int]]) -> str:
        pieces = []
        position = 0
        for start, end in marks:
            if self.is_shown():
                pieces.append(text[position:start])
            else:
                pieces.append("\n" * text.count("\n", position, start))
            position, mark = end, text[start:end]
            inside = mark[2:-2].strip("-+ \n\t")
            made = ""
            if mark.startswith("{%"):
                self.step(inside)
            elif mark.startswith("{{") and self.is_shown():
                made = self.value(inside, text[text.rfind("\n", 0, start) + 1 : start])
            pieces.append(made + "\n" * mark.count("\n"))
        return "".join(pieces) + text[position:]

    def is_shown(self) -> bool:
        return all(shown for _, shown in self.open)

    def step(self, inside: str) -> None:
        """A statement: {% ... %}."""
        word = inside.partition(" ")[0].partition("(")[0]
        named = _SET.fullmatch(inside)
        if named is not None:
            self.names[named[1]] = named[2]
        elif word in _OPENERS or (word == "set" and "=" not in inside):
            self.open.append((word, self.enters(word, inside)))
        elif word in ("else", "elif") and self.open:
            opened, shown = self.open.pop()
            self.open.append((opened, opened == "if" and not shown and "loop." not in inside))
        elif word.startswith("end") and self.open and word[3:] in (*_OPENERS, "set"):
            self.open.pop()

    def enters(self, word: str, inside: str) -> bool:
        if word == "if":
            # Between the rounds of a loop that goes round once stands nothing.
            return self.first and "loop.last" not in inside and "loop.first" not in inside
        if word == "for":
            self.note("a loop of Jinja is not run")
        if word == "call":
            self.note("a call of Jinja is not run")
        return word not in (*_APART, "set")

    def value(self, inside: str, before: str) -> str:
        """An expression: {{ ... }}."""
        found = _REF.fullmatch(inside)
        if found is not None:
            return found[2] or found[1]
        found = _SOURCE.fullmatch(inside)
        if found is not None:
            return f"{found[1]}.{found[2]}"
        if inside in self.names:
            return self.names[inside]
        if _SILENT.fullmatch(inside):
            return ""
        if _STAR.fullmatch(inside):
            if "except" in inside:
                self.note("a star with exceptions is not run")
            return "*"
        found = _KEY.fullmatch(inside)
        if found is not None:
            return f"concat({', '.join(re.findall(_TEXT, found[1]))})"
        if not _HARMLESS.fullmatch(inside) and not self.is_quoted(before):
            self.note(f"{{{{ {' '.join(inside.split())[:80]} }}}} is not run")
        return UNKNOWN

    def is_quoted(self, before: str) -> bool:
        """Whether what stands before it on its line leaves a text open."""
        return before.count("'") % 2 == 1

    def note(self, reason: str) -> None:
        if reason not in self.unknown:
            self.unknown.append(reason)
