"""What the measurements compute themselves; no test measures a time."""
