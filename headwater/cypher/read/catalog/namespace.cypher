// Return when any node of a namespace was first and last seen, and whether it has nodes at all.
// access: read
// params: $namespace STRING
// returns: first, last, size
// example: headwater cypher read/catalog/namespace --param namespace=file
CALL () {
  MATCH (n:Dataset) WHERE n.namespace = $namespace AND n.name IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Job) WHERE n.namespace = $namespace AND n.name IS NOT NULL RETURN n
}
RETURN min(n.firstSeen) AS first, max(n.lastSeen) AS last, count(n) AS size
