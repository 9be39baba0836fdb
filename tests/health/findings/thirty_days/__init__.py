"""Thirty days of a shop, made by hand: twelve planted problems among forty innocent changes."""
