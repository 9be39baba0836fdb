"""What the words mean: events, urns, facts and the shape of the graph. Pure: no I/O, no clock."""
