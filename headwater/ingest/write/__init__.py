"""One Neo4j transaction for each batch of events: a list of stages over one context."""
