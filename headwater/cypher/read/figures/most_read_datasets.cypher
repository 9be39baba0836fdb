// Return the datasets that the most jobs and datasets read and the most answers cite, of those that
// are visible. This is a scan over all datasets, to rank them.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn
// example: headwater figures top-datasets
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d, COUNT { MATCH (d)-[:FEEDS {current: true}]->(j:Job|Dataset)
      WHERE $visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p) RETURN DISTINCT j }
  + COUNT { MATCH (d)<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(a:Answer)
      WHERE $visible IS NULL OR NOT EXISTS {
        (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
        WHERE none(p IN $visible WHERE v.namespace =~ p)
      }
      RETURN DISTINCT a LIMIT 1000 } AS readers
WHERE readers > 0
RETURN d.urn AS urn
ORDER BY readers DESC, urn
LIMIT $limit
