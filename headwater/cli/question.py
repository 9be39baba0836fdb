"""A command that asks a question: the options of every question around a function of its own.

The function takes the backend and its own arguments, and returns a `Result`. The decorator adds the
options of the connection and of the output, opens the backend, and writes the result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_type_hints

import typer

from headwater.cli.backend.choice import open_backend
from headwater.cli.options import OUTPUT, Home, Json, Profile, Url
from headwater.cli.result import (
    Format,
    PictureFormat,
    Result,
    write,
    write_stream,
)
from headwater.client.backend import Backend
from headwater.errors import QueryError

Output = Annotated[
    str | None,
    typer.Option(
        help="Write to this file.", show_default="stdout", metavar="FILE", rich_help_panel=OUTPUT
    ),
]
_FORMAT_HELP = "Format of the output."
Question = Callable[..., "Result | Iterator[Result]"]


def question(command: Question) -> Callable[..., None]:
    """Return the command of a question, with the options of every question."""
    return _command(command, Format)


def picture_question(command: Question) -> Callable[..., None]:
    """Return the command of a question whose answer can be drawn."""
    return _command(command, PictureFormat)


def _command(command: Question, formats: type[Format] | type[PictureFormat]) -> Callable[..., None]:
    def ask(
        *,
        url: str | None,
        profile: str | None,
        home: str | None,
        format: str | None,
        output: str | None,
        as_json: bool,
        **arguments: Any,
    ) -> None:
        chosen = chosen_format(format, as_json=as_json)
        with open_backend(url, profile, home) as backend:
            result = command(backend, **arguments)
            if not isinstance(result, Result):
                write_stream(result, chosen, output)
                return
        write(result, chosen, output)
        if result.exit_code:
            raise typer.Exit(result.exit_code)

    own = _own_parameters(command)
    shared: list[tuple[str, Any, Any]] = [
        ("url", Url, None),
        ("profile", Profile, None),
        ("home", Home, None),
        (
            "format",
            Annotated[
                formats | None,
                typer.Option(
                    help=_FORMAT_HELP,
                    show_default="table",
                    rich_help_panel=OUTPUT,
                    case_sensitive=False,
                ),
            ],
            None,
        ),
        ("output", Output, None),
        ("as_json", Json, False),
    ]
    parameters = [
        *own,
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=one)
            for name, one, default in shared
        ),
    ]
    ask.__name__ = command.__name__
    ask.__doc__ = command.__doc__
    ask.__module__ = command.__module__
    ask.__annotations__ = {one.name: one.annotation for one in parameters}
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return ask


def _own_parameters(command: Question) -> list[inspect.Parameter]:
    """Return the parameters of a function behind its backend, with resolved annotations."""
    hints = get_type_hints(command, include_extras=True)
    backend, *own = inspect.signature(command).parameters.values()
    assert hints[backend.name] is Backend, f"{command.__name__} must take the backend first"
    return [
        one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY) for one in own
    ]


def chosen_format(format: str | None, *, as_json: bool) -> str:
    """Return the format that `--format` and `--json` name. Raise QueryError if they differ."""
    if as_json and format not in (None, Format.JSON):
        raise QueryError(
            f"--json and --format {format} exclude each other", hint="Give one of them."
        )
    return Format.JSON if as_json else format or Format.TABLE
