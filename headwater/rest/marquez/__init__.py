"""The paths that Marquez' clients and its web page read, answered in Marquez' shapes from Headwater's graph.

What Marquez has and Headwater has not is derived: the UUID of a version from its urn; one version of each job; a source
from the `dataSource` facet, or else from the namespace. What nobody told of but its name was made in 1970.
"""
