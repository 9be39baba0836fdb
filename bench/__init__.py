"""Measurements: `python -m bench.NAME` prints one JSON object. See docs/explanation/speed.md."""
