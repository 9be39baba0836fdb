"""Headwater: data lineage from source to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.client import Artifact, Client, Headwater, Run, Source
else:

    def __getattr__(name: str) -> Any:
        """Import a name of the Python API at its first use: most of the package needs no HTTP
        client.
        """
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from headwater import client

        return getattr(client, name)


__all__ = ["Artifact", "Client", "Headwater", "Run", "Source", "__version__"]
__version__ = "0.1.0"
