"""Spans over OTLP/HTTP: which service reads and writes which dataset, as events."""
