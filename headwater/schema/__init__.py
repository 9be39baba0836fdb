"""What the words mean: events, urns, facts, names and the shape of the graph. Pure: no clock, and
no I/O but to read the rules of naming.
"""
