"""Statements in Cypher, one .cypher file each: the catalog, driver, sandbox and migrations."""
