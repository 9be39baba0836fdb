"""How events come in: HTTP -> durable spool -> fold -> Neo4j."""
