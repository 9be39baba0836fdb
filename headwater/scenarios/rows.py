"""The rows of a table: each has its values by the name of their column."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Rows = list[Row]
