// Return when any node of a namespace was first and last seen, and how many nodes and how many jobs
// it has.
// access: read
// params: $namespace STRING
// returns: first, last, size, jobs
// example: headwater cypher read/catalog/namespace --param namespace=file
CALL () {
  MATCH (n:Dataset)
  WHERE n.namespace = $namespace AND n.name IS NOT NULL AND n.deletedAt IS NULL
  RETURN n, 0 AS job
  UNION ALL
  MATCH (n:Job)
  WHERE n.namespace = $namespace AND n.name IS NOT NULL AND n.deletedAt IS NULL
  RETURN n, 1 AS job
}
RETURN min(n.firstSeen) AS first, max(n.lastSeen) AS last, count(n) AS size, sum(job) AS jobs
