"""Policies: rules as files, evaluated on the graph and on proposed changes."""
