"""Removal of a value from every store of a home, with a record."""
