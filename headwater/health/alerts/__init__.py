"""Alerts: findings with one root cause as one message, and its delivery to receivers."""
