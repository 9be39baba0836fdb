// Return how far the findings follow the graph.
// access: read
// params: none
// returns: properties
// example: headwater cypher read/findings/detector
MATCH (d:Detector {name: 'graph'})
RETURN properties(d) AS properties
