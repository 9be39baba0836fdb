// Return the first two visible datasets and jobs whose guid begins with a prefix.
// access: read
// params: $prefix STRING, $visible LIST<STRING> = null
// returns: urn
// example: headwater cypher read/catalog/assets_by_guid_prefix --param prefix=6f1c1a52-0a55
CALL () {
  MATCH (n:Dataset) WHERE n.guid STARTS WITH $prefix RETURN n
  UNION ALL
  MATCH (n:Job) WHERE n.guid STARTS WITH $prefix RETURN n
}
WITH n
WHERE $visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p)
RETURN n.urn AS urn
ORDER BY urn
LIMIT 2
