"""Headwater: data lineage from source to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.client import Artifact, Headwater, Run, Source

__all__ = ["Artifact", "Headwater", "Run", "Source", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The small Python API, imported when it is first asked for: most of what is here needs no
    HTTP client.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwater import client

    return getattr(client, name)
