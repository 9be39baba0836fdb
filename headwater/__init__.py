"""Headwater: data lineage from source to answer."""

from headwater.client import Artifact, Headwater, Run, Source

__all__ = ["Artifact", "Headwater", "Run", "Source", "__version__"]
__version__ = "0.1.0"
