"""The read paths of Marquez, answered in Marquez' shapes from Headwater's graph.

Fields that only Marquez has are derived. The UUID of a version comes from its urn. Each job has one
version. A source comes from the `dataSource` facet, or else from the namespace. A node without any
event of its own has 1970 as its creation time.
"""
