"""Findings of producers: what their events and the names in them show, day by day."""
