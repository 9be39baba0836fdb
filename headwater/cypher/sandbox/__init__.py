"""Cypher statements that users write: checked before they run, and bounded while they run."""
