"""Findings: detected problems on nodes, derived from the graph, with evidence."""
