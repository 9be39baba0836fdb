"""Incidents on a real stack: a fault is injected, found, explained, repaired, and checked."""
