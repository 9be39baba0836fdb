"""dbt templates as SQL that can be parsed, from the syntax tree of their Jinja.

No template is ever executed.

`ref` and `source` become table names, `config` nothing, a variable set to a text that text, and
the most common macros of dbt_utils their result. Any other expression becomes `UNKNOWN_NAME`, and
a reason in `unknown`: it may hold a reference. A loop is rendered once. Each branch of an `if` is
rendered in a text of its own. Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from headwater.code_analysis.model import UNKNOWN_NAME, UnreadableError
from headwater.code_analysis.steps import Steps

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

# The number of `{{`, `{%` and `{#` in a template.
MARKS_MAX = 2_000
BRANCHES_MAX = 10
_PAIRS = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"))
_MARK = re.compile(r"\{[{%#]")
# `{%-` strips white space. Without it no two words are joined, and lines stay where they are.
_STRIP_BEFORE = re.compile(r"(\{[{%#])[-+]")
_STRIP_AFTER = re.compile(r"[-+]([}%#]\})")
_SILENT_CALLS = ("config", "log", "print", "set_sql_header", "exceptions")
# Names whose values are never columns: the table itself, and facts about the run.
_HARMLESS_NAMES = ("this", "target", "model", "invocation_id", "run_started_at", "var", "env_var")
_KEY_MACROS = ("dbt_utils.surrogate_key", "dbt_utils.generate_surrogate_key")
_MODEL_CALLS = ("ref", "source", "config")


@dataclass
class RenderedTemplate:
    """A template as SQL.

    texts: one SQL text for each way through its branches. The last one enters no condition. There
    are none if all of them together are too long.
    unknown: reasons why a text may lack references.
    unresolved: those of them that leave the columns of the model open: loops, calls, syntax
    errors.
    config: the literal arguments of `config(...)`.
    expressions: the expressions that are not `ref`, `source` or `config`; if one changes, so may
    the model.
    snapshot: the name of the snapshot that it defines, or "".
    is_model: it calls `ref`, `source` or `config`."""

    texts: list[str] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    expressions: list[str] = field(default_factory=list)
    snapshot: str = ""
    is_model: bool = False

    def add_unknown(self, reason: str, *, is_unresolved: bool = False) -> None:
        """Add a reason, once."""
        if is_unresolved and reason not in self.unknown:
            self.unresolved.append(reason)
        self.unknown[reason] = None


def has_jinja(text: str) -> bool:
    """Return True if a text has an opening mark of Jinja that is closed."""
    for opening, closing in _PAIRS:
        start = text.find(opening)
        if start >= 0 and text.find(closing, start + 2) >= 0:
            return True
    return False


def render(text: str) -> RenderedTemplate:
    """Return a template as SQL.

    It does not raise: a template that cannot be parsed is its own text, and unknown. Each character
    of its texts is a step; a template past their bound has no text, and is unknown."""
    from jinja2 import TemplateSyntaxError, nodes

    template = RenderedTemplate()
    if sum(1 for _ in _MARK.finditer(text)) > MARKS_MAX:
        template.add_unknown(f"there are more than {MARKS_MAX} pairs of braces", is_unresolved=True)
        return template
    source = _STRIP_AFTER.sub(r" \1", _STRIP_BEFORE.sub(r"\1 ", text))
    try:
        tree = _environment().parse(source)
        texts = _expression_texts(source, tree)
        branches = [_branches(node) for node in tree.find_all(nodes.If)]
        renderings = min(max(map(len, branches), default=1), BRANCHES_MAX)
        steps = Steps()
        for way in range(renderings):
            rendered = _Renderer(template, texts, way, steps).render(tree)
            if rendered not in template.texts:
                template.texts.append(rendered)
    except UnreadableError as error:
        template.add_unknown(str(error), is_unresolved=True)
        template.texts = []
        return template
    except (TemplateSyntaxError, RecursionError, ValueError) as error:
        line = getattr(error, "lineno", 0)
        reason = f"the Jinja cannot be read: {getattr(error, 'message', 'too deep')} at line {line}"
        template.add_unknown(reason, is_unresolved=True)
        template.texts = [text]
        return template
    if any(len(branch) > BRANCHES_MAX for branch in branches):
        template.add_unknown(f"an if has more than {BRANCHES_MAX} branches", is_unresolved=True)
    _read_calls(tree, texts, template)
    return template


@cache
def _environment() -> Environment:
    """Return an environment with the tags of dbt. The first call loads jinja2."""
    from jinja2 import Environment, nodes
    from jinja2.ext import Extension
    from jinja2.parser import Parser

    class DbtTags(Extension):
        """`snapshot`, whose body is a query, and tags whose body is not a part of the model."""

        tags = {"snapshot", "test", "data_test", "docs", "materialization"}  # noqa: RUF012

        def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
            tag = next(parser.stream)
            name = str(parser.stream.current.value)
            while parser.stream.current.type != "block_end":
                next(parser.stream)
            body = parser.parse_statements((f"name:end{tag.value}",), drop_needle=True)
            if tag.value == "snapshot":
                return nodes.Block(name, body, False, False, lineno=tag.lineno)
            return nodes.Macro(name, [], [], body, lineno=tag.lineno)

    return Environment(
        extensions=[DbtTags, "jinja2.ext.do", "jinja2.ext.loopcontrols"],
        keep_trailing_newline=True,
    )


def _expression_texts(source: str, tree: nodes.Template) -> dict[int, str]:
    """Return the source text of each `{{ ... }}`, by the id of its node.

    The lexer and the tree have the same expressions in the same order."""
    texts: list[str] = []
    inside: list[str] | None = None
    for _, kind, value in _environment().lex(source):
        if kind == "variable_begin":
            inside = []
        elif kind == "variable_end":
            texts.append(" ".join("".join(inside or ()).split()))
            inside = None
        elif inside is not None:
            inside.append(value)
    return dict(zip(map(id, _expressions(tree)), texts, strict=True))


def _expressions(tree: nodes.Node) -> Iterator[nodes.Expr]:
    """Yield the nodes of all `{{ ... }}` in their order."""
    from jinja2 import nodes

    for output in tree.find_all(nodes.Output):
        for node in output.nodes:
            if not isinstance(node, nodes.TemplateData):
                yield node


def _read_calls(tree: nodes.Template, texts: dict[int, str], template: RenderedTemplate) -> None:
    """Read the configuration of a model and the expressions that decide its columns."""
    from jinja2 import nodes

    for block in tree.find_all(nodes.Block):
        template.snapshot = template.snapshot or block.name
    for node in _expressions(tree):
        name = _called_name(node)
        if name not in _MODEL_CALLS:
            template.expressions.append(texts[id(node)])
            continue
        template.is_model = True
        if name == "config" and isinstance(node, nodes.Call):
            for argument in node.kwargs:
                if isinstance(argument.value, nodes.Const):
                    template.config[argument.key] = argument.value.value


def _branches(node: nodes.If) -> list[list[nodes.Node]]:
    """Return the bodies of an `if`: its own, of each elif, and of else, which may be empty."""
    return [node.body, *(branch.body for branch in node.elif_), node.else_]


class _Renderer:
    """Renders one way through a template: branch number `way` of each `if`, or its last.

    It takes a step for each character. Raises UnreadableError past their bound."""

    def __init__(
        self, template: RenderedTemplate, texts: dict[int, str], way: int, steps: Steps
    ) -> None:
        self._template = template
        self._texts = texts
        self._way = way
        self._steps = steps
        self._variables: dict[str, str] = {}
        self._pieces: list[str] = []
        self._line = 1
        # The quotes in the current line so far.
        self._quotes = 0

    def render(self, tree: nodes.Template) -> str:
        """Return the SQL of a template."""
        self._render_all(tree.body)
        return "".join(self._pieces)

    def _render_all(self, body: Iterable[nodes.Node]) -> None:
        for node in body:
            self._render_node(node)

    def _render_node(self, node: nodes.Node) -> None:
        from jinja2 import nodes

        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    self._write(part.data, part.lineno)
                else:
                    self._write(self._value(part), part.lineno)
        elif isinstance(node, nodes.If):
            self._render_all(self._chosen_branch(node))
        elif isinstance(node, nodes.For):
            self._template.add_unknown("a loop of Jinja is not run", is_unresolved=True)
            self._render_all(node.body)
        elif isinstance(node, nodes.CallBlock):
            self._template.add_unknown("a call of Jinja is not run", is_unresolved=True)
        elif isinstance(node, nodes.Assign):
            value = _constant(node.node)
            if isinstance(node.target, nodes.Name) and value is not None:
                self._variables[node.target.name] = value
        elif isinstance(node, nodes.Block | nodes.FilterBlock | nodes.Scope):
            self._render_all(node.body)

    def _chosen_branch(self, node: nodes.If) -> list[nodes.Node]:
        from jinja2 import nodes

        branches = _branches(node)
        names = {name.name for name in node.test.find_all(nodes.Name)}
        if isinstance(node.test, nodes.Name):
            names.add(node.test.name)
        # `loop.first` and `loop.last` put separators between rounds; a loop is rendered once.
        number = len(branches) - 1 if "loop" in names else min(self._way, len(branches) - 1)
        return branches[number]

    def _write(self, text: str, line: int) -> None:
        """Write a text at its line of the template."""
        missing = max(line - self._line, 0)
        self._steps.take(missing + len(text))
        if missing:
            text = "\n" * missing + text
        self._pieces.append(text)
        self._line += text.count("\n")
        _, line_break, tail = text.rpartition("\n")
        self._quotes = tail.count("'") + (0 if line_break else self._quotes)

    def _value(self, node: nodes.Expr) -> str:
        """Return the SQL of an expression: {{ ... }}."""
        from jinja2 import nodes

        constant = _constant(node)
        if constant is not None:
            return constant
        if isinstance(node, nodes.Name) and node.name in self._variables:
            return self._variables[node.name]
        name = _called_name(node)
        if isinstance(node, nodes.Call):
            result = self._call_result(name, node)
            if result is not None:
                return result
        root = name.partition(".")[0]
        if root not in _HARMLESS_NAMES and not self._is_in_quotes():
            text = self._texts[id(node)][:80]
            self._template.add_unknown(f"{{{{ {text} }}}} is not run")
        return UNKNOWN_NAME

    def _call_result(self, name: str, node: nodes.Call) -> str | None:
        """Return the SQL of a call, or None if it is not known."""
        root = name.partition(".")[0]
        arguments = [_constant(argument) for argument in node.args]
        names = [argument for argument in arguments if argument is not None]
        is_literal = bool(names) and len(names) == len(arguments)
        options = {argument.key for argument in node.kwargs}
        if root in _SILENT_CALLS:
            return ""
        if name == "ref" and is_literal and len(names) <= 2 and options <= {"v", "version"}:
            return names[-1]
        if name == "source" and is_literal and len(names) == 2:
            return ".".join(names)
        if name == "dbt_utils.star":
            if "except" in options or len(arguments) > 1:
                self._template.add_unknown("a star with exceptions is not run")
            return "*"
        if name in _KEY_MACROS and node.args:
            return _concatenation(node.args[0])
        return None

    def _is_in_quotes(self) -> bool:
        """Return True if the text before on this line leaves a quote open."""
        return self._quotes % 2 == 1


def _constant(node: nodes.Node) -> str | None:
    """Return the value of a text literal, or None."""
    from jinja2 import nodes

    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return node.value
    return None


def _called_name(node: nodes.Node) -> str:
    """Return the dotted name of a name, an attribute or a call, or ""."""
    from jinja2 import nodes

    if isinstance(node, nodes.Call):
        return _called_name(node.node)
    if isinstance(node, nodes.Getattr):
        owner = _called_name(node.node)
        return f"{owner}.{node.attr}" if owner else ""
    return node.name if isinstance(node, nodes.Name) else ""


def _concatenation(node: nodes.Node) -> str | None:
    """Return the SQL of a surrogate key: the concatenation of the listed columns."""
    from jinja2 import nodes

    items = node.items if isinstance(node, nodes.List) else []
    columns = [_constant(item) for item in items]
    names = [column for column in columns if column is not None]
    return f"concat({', '.join(names)})" if names and len(names) == len(columns) else None
