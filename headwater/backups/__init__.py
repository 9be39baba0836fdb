"""Backups of a home: the events, the keys, the settings and the lake, and their restoration."""
