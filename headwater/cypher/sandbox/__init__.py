"""Read-only runs of catalog queries and of statements that callers write."""
