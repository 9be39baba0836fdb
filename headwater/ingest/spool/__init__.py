"""The durable log of accepted events: append, group commit, read."""
