"""Help in panels, as plain text: commands by their purpose, options by what they choose.

Typer draws panels with rich, whose import takes a third of the time of `headwater --help`.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

# Longer than any summary: none is cut, and long ones are wrapped.
_SUMMARY_CHARACTERS_MAX = 1_000
_ARGUMENTS = "Arguments"
_OPTIONS = "Options"


class PanelCommand(TyperCommand):
    """A command whose help lists its arguments, its own options, and the shared ones."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of each panel below its title."""
        panels: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OPTIONS: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                own = _ARGUMENTS if is_argument else _OPTIONS
                title = getattr(parameter, "rich_help_panel", None) or own
                panels.setdefault(title, []).append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class PanelGroup(TyperGroup):
    """A group whose help lists its commands by their panels, in the order of their definition."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of each panel below its title."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                title = getattr(command, "rich_help_panel", None) or "Commands"
                summary = command.get_short_help_str(_SUMMARY_CHARACTERS_MAX)
                panels.setdefault(title, []).append((name, summary))
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows)
