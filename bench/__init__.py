"""Measurements, one command each: `python -m bench.NAME`, one JSON object out. See docs/explanation/speed.md."""
