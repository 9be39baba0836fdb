"""Headwater: data lineage from source to answer."""

__version__ = "0.1.0"
