"""Conditions in the Common Expression Language (CEL), with the engine of the CEL team.

A condition is compiled against the declared variables, so an unknown variable, an unknown function
or a type error is reported when a file is loaded. The engine bounds the iterations of an
evaluation, but not what they make: `['a'].map(x, x + x + x)`, twenty times in a row, fills any
memory. So those of callers are evaluated by `evaluate_bounded`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from headwater.governance.policies.models import Condition, Outcome, PolicyError
from headwater.governance.policies.variables import VARIABLES

if TYPE_CHECKING:
    from cel_expr_python import cel

# A longer condition is refused: nobody can review it.
SOURCE_CHARACTERS_MAX = 4_000
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
# A call of matches with a literal text: its regular expression is checked with the condition.
_MATCHES = re.compile(rf"\.\s*matches\s*\(\s*({_LITERAL.pattern})\s*\)")
_SHOWN_MAX = 80
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class CelCondition:
    """A compiled condition in CEL."""

    def __init__(self, source: str, expression: cel.Expression) -> None:
        """Create a condition from its text and the compiled expression."""
        self._expression = expression
        self._variables = variables_of(source)

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that the condition reads."""
        return self._variables

    def evaluate(self, values: Mapping[str, Any]) -> Outcome:
        """Return whether the condition is true; an absent value is unknown. Raises MemoryError."""
        needed = {name: values[name] for name in self._variables if name in values}
        try:
            result = self._expression.eval(data=needed)
            value = result.value()
        except MemoryError:
            raise
        except Exception as error:
            return Outcome(False, _one_line(str(error)))
        if isinstance(value, bool):
            return Outcome(value)
        missing = [name for name in self._variables if name not in values]
        return Outcome(False, _unknown(missing) if missing else _one_line(str(value)))


def compile_condition(source: str) -> Condition:
    """Return a condition of its text in CEL.

    Raises:
        PolicyError: The text is no condition; the message is that of the compiler.
    """
    if len(source) > SOURCE_CHARACTERS_MAX:
        raise PolicyError(f"The condition is longer than {SOURCE_CHARACTERS_MAX} characters")
    if any("\ud800" <= character <= "\udfff" for character in source):
        raise PolicyError("The condition has half of a surrogate pair, which is no text")
    try:
        expression = _environment().compile(source)
    except (RuntimeError, ValueError, TypeError) as error:
        raise PolicyError(_compiler_message(str(error))) from None
    if (name := expression.return_type().name().lower()) != "bool":
        raise PolicyError(f"The condition has type {name}, but must be true or false")
    for match in _MATCHES.finditer(source):
        _require_regex(match[1])
    return CelCondition(source, expression)


def _require_regex(literal: str) -> None:
    """Raise PolicyError if the text of a call of `matches` is no regular expression of CEL."""
    expression = _environment().compile(f"''.matches({literal})")
    try:
        value = expression.eval(data={}).value()
    except Exception as error:
        value = error
    if not isinstance(value, bool):
        shown = literal if len(literal) <= _SHOWN_MAX else f"{literal[:_SHOWN_MAX]}…"
        raise PolicyError(
            f"the regular expression {shown} cannot be used; write one of RE2, and a shorter one "
            "if it repeats much"
        )


def variables_of(source: str) -> tuple[str, ...]:
    """Return the names of the declared variables in a condition, in order."""
    found = []
    for match in _NAME.finditer(_LITERAL.sub("''", source)):
        name = match[0]
        # The end may be a function: node.tags.exists(...).
        while name not in VARIABLES and "." in name:
            name = name.rpartition(".")[0]
        if name in VARIABLES:
            found.append(name)
    return tuple(dict.fromkeys(found))


@cache
def _environment() -> cel.Env:
    try:
        from cel_expr_python import cel
    except ImportError:
        raise PolicyError(
            "Policies need the package cel-expr-python",
            hint="Install it: pip install 'headwater[policy]'.",
        ) from None
    types = {
        "string": cel.Type.STRING,
        "bool": cel.Type.BOOL,
        "int": cel.Type.INT,
        "timestamp": cel.Type.TIMESTAMP,
        "list(string)": cel.Type.List(cel.Type.STRING),
        "list(map)": cel.Type.List(cel.Type.Map(cel.Type.STRING, cel.Type.DYN)),
    }
    return cel.NewEnv(variables={one.name: types[one.type] for one in VARIABLES.values()})


def _unknown(names: list[str]) -> str:
    return f"The value of {', '.join(names)} is unknown"


def _compiler_message(text: str) -> str:
    """Return the first error of the compiler with its line and column."""
    if "recursion" in text:
        return "The condition is nested too deep, or has too many operators in a row; simplify it"
    found = re.search(r"<input>:(\d+):(\d+): (.*)", text)
    if found is None:
        return _one_line(text)
    line, column, message = found.groups()
    message = message.replace(" (in container '')", "").removesuffix(" [INVALID_ARGUMENT]")
    return f"line {line}, column {column} of the condition: {message}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
