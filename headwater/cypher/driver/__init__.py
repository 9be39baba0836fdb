"""The connection to Neo4j: sessions, transactions, deadlines, the write lock, and the wire protocol's limits."""
