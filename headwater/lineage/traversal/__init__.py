"""Traversal of the lineage graph, the run history and column lineage, over Neo4j or over the
cache."""
