"""SQL scripts and query logs as OpenLineage events."""
