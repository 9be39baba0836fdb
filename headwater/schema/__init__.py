"""The data model, without I/O: events, facets, names, urns, facts, and the shape of the graph."""
