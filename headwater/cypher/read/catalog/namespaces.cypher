// Return every namespace that has datasets or jobs, with its first and last observation. This is a
// scan over both.
// access: read
// params: $visible LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: namespace, first, last
// example: headwater cypher read/catalog/namespaces --param visible=null
CALL () {
  MATCH (n:Dataset) RETURN n.namespace AS namespace, min(n.firstSeen) AS first,
    max(n.lastSeen) AS last
  UNION ALL
  MATCH (n:Job) RETURN n.namespace AS namespace, min(n.firstSeen) AS first, max(n.lastSeen) AS last
}
WITH namespace, min(first) AS first, max(last) AS last
WHERE $visible IS NULL OR any(p IN $visible WHERE namespace =~ p)
RETURN namespace, first, last
ORDER BY namespace
SKIP $skip LIMIT $limit
