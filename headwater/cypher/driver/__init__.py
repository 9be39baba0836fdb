"""The connection to Neo4j: sessions, transactions, deadlines, the write lock, and the limits of the
wire protocol."""
