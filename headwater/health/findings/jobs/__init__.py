"""Findings of jobs: the history of a job, and the rules that are evaluated on it."""
