"""The Python client: `Client` asks questions, `Headwater` registers sources, runs and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.client.client import Client
    from headwater.client.registrations import Artifact, Headwater, Run, Source
else:

    def __getattr__(name: str) -> Any:
        """Import a name at its first use: the command line needs only parts of this package."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from headwater.client import client, registrations

        return getattr(client if name == "Client" else registrations, name)


__all__ = ["Artifact", "Client", "Headwater", "Run", "Source"]
