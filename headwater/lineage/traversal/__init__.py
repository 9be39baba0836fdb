"""Breadth-first traversal of the lineage graph and of run history, with bounds, filters and resume points."""
