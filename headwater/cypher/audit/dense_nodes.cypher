// Return the nodes with the most edges: where traversals get wide, and where one failure or one
// wrong name touches most nodes. This is a scan over every node of both layers; counting the edges
// of a node does not follow them.
// access: read
// params: $limit INTEGER = 20
// returns: edges, into, outOf, kind, namespace, name
// example: headwater cypher dense_nodes --param limit=10
MATCH (n:Dataset|Job|PipelineRun|Source|Artifact|Answer|Column|SchemaVersion)
WITH n, COUNT { (n)--() } AS edges ORDER BY edges DESC, n.urn LIMIT $limit
RETURN edges, COUNT { (n)<--() } AS into, COUNT { (n)-->() } AS outOf, head(labels(n)) AS kind,
  n.namespace AS namespace, coalesce(n.name, n.pipelineName + ' ' + n.runId, n.hash) AS name
ORDER BY edges DESC, kind, namespace, name
