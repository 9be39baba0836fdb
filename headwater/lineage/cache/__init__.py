"""The current lineage graph in memory, and the thread that refreshes it."""
