// For each given dataset, return the newest complete version written by an instant and the newest
// complete version of all. Versions in $spoiled are excluded.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $spoiled LIST<STRING>
// returns: urn, good, newest, newestAt
// example: headwater cypher read/failures/last_good_versions --param urns=dataset:file:/raw/planes
//   --param at=2026-01-31T00:00:00Z --param spoiled=artifact:file:/raw/planes:RUN
UNWIND $urns AS urn
WITH urn, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = urn AND a.complete = true AND a.createdAt IS NOT NULL AND NOT a.urn IN $spoiled
  RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS newest
RETURN urn, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = urn AND a.complete = true AND a.createdAt <= $at AND NOT a.urn IN $spoiled
  RETURN a.urn ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS good, newest.urn AS newest, newest.createdAt AS newestAt
