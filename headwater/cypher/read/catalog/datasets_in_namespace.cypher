// Return a page of the datasets of a namespace by name, and their total.
// access: read
// params: $namespace STRING, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/catalog/datasets_in_namespace --param namespace=file
RETURN COLLECT {
  MATCH (d:Dataset) WHERE d.namespace = $namespace AND d.name IS NOT NULL AND d.deletedAt IS NULL
  RETURN d.urn ORDER BY d.name, d.urn SKIP $skip LIMIT $limit
} AS urns, COUNT {
  MATCH (d:Dataset)
  WHERE d.namespace = $namespace AND d.name IS NOT NULL AND d.deletedAt IS NULL
} AS total
