// Return a page of the versions of the given datasets, oldest first. Versions still being written
// come last of all. The page starts after the version created $cursorTime with the urn $cursorUrn.
// access: read
// params: $urns LIST<STRING>, $cursorTime DATETIME, $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, listed
// example: headwater cypher read/nodes/dataset_versions --param urns=dataset:file:/raw/planes
//   --param cursorTime=1970-01-01
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  CALL (d) {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt >= $cursorTime
      AND NOT (a.createdAt = $cursorTime AND a.urn >= $cursorUrn)
        AND EXISTS { (a)-[:VERSION_OF]->(d) }
    RETURN a.urn AS version, a.createdAt AS at
    ORDER BY a.dataset, a.complete, a.createdAt, a.urn DESC LIMIT $limit
    UNION
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = d.urn AND a.complete = false AND a.createdAt >= $cursorTime
      AND NOT (a.createdAt = $cursorTime AND a.urn >= $cursorUrn)
        AND EXISTS { (a)-[:VERSION_OF]->(d) }
    RETURN a.urn AS version, a.createdAt AS at
    ORDER BY a.dataset, a.complete, a.createdAt, a.urn DESC LIMIT $limit
    UNION
    MATCH (a:Artifact)-[e:VERSION_OF]->(:Dataset)
    USING INDEX SEEK e:VERSION_OF(indexedUnder)
    WHERE e.indexedUnder = d.urn
    WITH a.urn AS version, coalesce(a.createdAt, datetime('9999-12-31T00:00:00Z')) AS at
    WHERE at > $cursorTime OR (at = $cursorTime AND version < $cursorUrn)
    RETURN version, at
  }
  RETURN {urn: version, at: at} ORDER BY at, version DESC LIMIT $limit
} AS listed
