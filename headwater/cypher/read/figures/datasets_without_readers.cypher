// Return the datasets with a known producer that nothing ever read or cited. This is a scan over
// all datasets, to find them.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn
// example: headwater figures unknown-downstreams
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND (EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
    OR EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current })
  AND NOT EXISTS { (d)-[:FEEDS]->() }
  AND NOT EXISTS { (d)<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(:Answer) }
  AND NOT EXISTS { (d)-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(:Answer) }
RETURN d.urn AS urn
ORDER BY urn
LIMIT $limit
