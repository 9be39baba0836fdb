// Return a page of the versions of a dataset, newest first, and their total.
// access: read
// params: $urn STRING, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/catalog/versions_of_dataset --param urn=dataset:file:/raw/planes
MATCH (d:Dataset {urn: $urn})
RETURN COLLECT {
  CALL (d) {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt IS NOT NULL
      AND EXISTS { (a)-[:VERSION_OF]->(d) }
    RETURN a.urn AS version, a.createdAt AS at
    ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn LIMIT $skip + $limit
    UNION
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = d.urn AND a.complete = false AND a.createdAt IS NOT NULL
      AND EXISTS { (a)-[:VERSION_OF]->(d) }
    RETURN a.urn AS version, a.createdAt AS at
    ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn LIMIT $skip + $limit
    UNION
    MATCH (a:Artifact)-[e:VERSION_OF]->(:Dataset)
    USING INDEX SEEK e:VERSION_OF(indexedUnder)
    WHERE e.indexedUnder = d.urn
    RETURN a.urn AS version, a.createdAt AS at
  }
  RETURN version ORDER BY at DESC, version SKIP $skip LIMIT $limit
} AS urns, COUNT { ()-[:VERSION_OF]->(d) } - COUNT {
  MATCH (s:Source) WHERE s.dataset = d.urn AND EXISTS { (s)-[:VERSION_OF]->(d) }
} AS total
