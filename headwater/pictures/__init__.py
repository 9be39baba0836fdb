"""A lineage as a picture: Mermaid, DOT, SVG or PNG."""
