"""The arithmetic of the benches; no test measures a time."""
