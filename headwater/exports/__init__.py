"""The graph, or a part of it, in the formats of other tools. Each export streams its rows."""
