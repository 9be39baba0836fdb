// Return the newest data of the given datasets: the newest complete version, the source if it is
// one, and the time it was dropped. The index is read backwards, as in read/versions/versions_at.
// access: read
// params: $urns LIST<STRING>
// returns: urn, made, source, dropped
// example: headwater cypher read/estate/newest_data --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = urn AND a.complete = true AND a.createdAt IS NOT NULL
  RETURN {urn: a.urn, at: a.createdAt}
    ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn DESC LIMIT 1
}[0] AS made, COLLECT {
  MATCH (s:Source)
  USING INDEX SEEK s:Source(dataset)
  WHERE s.dataset = urn AND EXISTS { (s)-[:VERSION_OF]->(d) }
  RETURN s.urn ORDER BY s.urn LIMIT 1
}[0] AS source, d.droppedAt AS dropped
