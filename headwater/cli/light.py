"""Help that answers at once.

What typer draws help with imports rich's Markdown, its tracebacks, and through these every lexer of pygments and attrs:
a third of the time that `headwater --help` took, and nothing of it is drawn with. So it is imported here without them.
"""

from __future__ import annotations

import sys
from types import ModuleType

_UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
# rich asks whether it is there, and does without.
_OPTIONAL = "attr"


def load_help() -> None:
    """Import what typer draws help with. Does nothing when that was imported, in whole, before."""
    if "typer.rich_utils" in sys.modules:
        return
    hidden = [name for name in _UNUSED if name not in sys.modules]
    for name in hidden:
        module = ModuleType(name)
        setattr(module, _UNUSED[name], type(_UNUSED[name], (), {}))
        sys.modules[name] = module
    without = _OPTIONAL not in sys.modules
    if without:
        sys.modules[_OPTIONAL] = None  # type: ignore[assignment]  # how Python marks what cannot be imported
    try:
        import typer.rich_utils  # noqa: F401
    finally:
        for name in [*hidden, *([_OPTIONAL] if without else [])]:
            del sys.modules[name]
