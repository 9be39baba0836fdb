"""Sources of lineage that send no events, read as OpenLineage events."""
