// Return the datasets that no job reads or writes now. This is a scan over all datasets, to find
// them.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn
// example: headwater figures coverage
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND NOT EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
  AND NOT EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current }
  AND NOT EXISTS { MATCH (d)-[f:FEEDS]->(:Job|Dataset) WHERE f.current }
RETURN d.urn AS urn
ORDER BY urn
LIMIT $limit
