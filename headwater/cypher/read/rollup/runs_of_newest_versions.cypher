// Return a page of datasets, in the order of their urns, with the runs that wrote the newest
// complete version of each.
// access: read
// params: $after STRING = "", $limit INTEGER = 1000
// returns: urn, runs
// example: run by `headwater pipeline rollup`
MATCH (d:Dataset)
WHERE d.urn > $after
WITH d ORDER BY d.urn LIMIT $limit
WITH d, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt IS NOT NULL
  RETURN a.createdAt ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS newest
RETURN d.urn AS urn, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt = newest
  MATCH (r:PipelineRun)-[:PRODUCED]->(a)
  RETURN r.urn
} AS runs
