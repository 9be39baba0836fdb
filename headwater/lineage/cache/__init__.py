"""The current lineage graph in memory, and the thread that keeps it in step with Neo4j."""
