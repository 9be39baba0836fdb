// Return every namespace that has datasets or jobs, with its first and last observation and the
// number of both. This is a scan over both.
// access: read
// params: $visible LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: namespace, first, last, datasets, jobs
// example: headwater cypher read/catalog/namespaces --param visible=null
CALL () {
  MATCH (n:Dataset) WHERE n.deletedAt IS NULL
  RETURN n.namespace AS namespace, min(n.firstSeen) AS first, max(n.lastSeen) AS last,
    count(n.name) AS datasets, 0 AS jobs
  UNION ALL
  MATCH (n:Job) WHERE n.deletedAt IS NULL
  RETURN n.namespace AS namespace, min(n.firstSeen) AS first, max(n.lastSeen) AS last,
    0 AS datasets, count(n.name) AS jobs
}
WITH namespace, min(first) AS first, max(last) AS last, sum(datasets) AS datasets,
  sum(jobs) AS jobs
WHERE $visible IS NULL OR any(p IN $visible WHERE namespace =~ p)
RETURN namespace, first, last, datasets, jobs
ORDER BY namespace
SKIP $skip LIMIT $limit
