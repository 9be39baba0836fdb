"""Service levels: what the platform promises, how well it keeps it, and the budget of errors."""
