"""Statements in Cypher: one .cypher file each, the driver that runs them, the sandbox, migrations and maintenance."""
