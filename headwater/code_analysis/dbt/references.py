"""The columns that SQL with Jinja reads and writes: dbt models, and templates of Airflow."""

from __future__ import annotations

from dataclasses import replace

from headwater.code_analysis.dbt.jinja import has_jinja, render
from headwater.code_analysis.model import (
    UNKNOWN_NAME,
    ColumnLookup,
    References,
    UnreadableError,
    merge_references,
    no_columns,
    unknown_references,
)
from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX
from headwater.code_analysis.sql.references import references_in_sql
from headwater.code_analysis.steps import Steps


def references_in_model(
    text: str,
    *,
    dialect: str = "",
    columns: ColumnLookup = no_columns,
    steps: Steps | None = None,
) -> References:
    """Return the references of SQL that may be a dbt model. Several texts may share `steps`."""
    steps = steps or Steps()
    if not has_jinja(text):
        return references_in_sql(text, dialect=dialect, columns=columns, steps=steps)
    if len(text) > TEXT_LENGTH_MAX:
        return unknown_references(f"the SQL is longer than {TEXT_LENGTH_MAX} characters")
    try:
        # Its texts have a bound of their own; what a script names again and again is read again.
        steps.take(len(text))
    except UnreadableError as error:
        return unknown_references(str(error))
    template = render(text)
    references = merge_references(
        references_in_sql(sql, dialect=dialect, columns=columns, steps=steps)
        for sql in template.texts
    )
    lines = text.splitlines()
    read = []
    for one in references.read:
        if one.table != (UNKNOWN_NAME,) and one.column != UNKNOWN_NAME:
            is_line = one.line <= len(lines)
            # Evidence shows the line of the template, not of the rendered text.
            read.append(replace(one, text=lines[one.line - 1].strip()) if is_line else one)
    return replace(
        references,
        read=tuple(read),
        tables=references.tables - {(UNKNOWN_NAME,)},
        unknown=(*references.unknown, *template.unknown),
    )
