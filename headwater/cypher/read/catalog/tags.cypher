// Return every tag of a dataset or a job. This is a scan over both.
// access: read
// params: $visible LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: tag
// example: headwater cypher read/catalog/tags --param visible=null
CALL () {
  MATCH (n:Dataset) WHERE n.tags IS NOT NULL RETURN n
  UNION ALL
  MATCH (n:Job) WHERE n.tags IS NOT NULL RETURN n
}
WITH n WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
UNWIND n.tags AS tag
RETURN DISTINCT tag
ORDER BY tag
SKIP $skip LIMIT $limit
