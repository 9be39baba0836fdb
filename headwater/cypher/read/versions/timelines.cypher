// Return the newest complete and the newest incomplete versions of the given datasets, newest
// first, each with the version whose content it kept. `drops` are the successful runs that dropped
// the dataset, with their ends.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 8
// returns: dataset, complete, partial, drops
// example: run by the worker
UNWIND $urns AS dataset
RETURN dataset, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = dataset AND a.complete = true AND a.createdAt IS NOT NULL
  WITH a, [(r:PipelineRun)-[:PRODUCED]->(a) | r][0] AS r
  RETURN [a.createdAt, a.urn, r.urn, coalesce(a.startedAt, r.startedAt), a.complete, a.writeMode,
    a.inputsHash, coalesce([(k:Artifact)-[:FEEDS]->(a) | k.urn][0], '')]
  ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT $limit
} AS complete, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = dataset AND a.complete = false AND a.createdAt IS NOT NULL
  WITH a, [(r:PipelineRun)-[:PRODUCED]->(a) | r][0] AS r
  RETURN [a.createdAt, a.urn, r.urn, coalesce(a.startedAt, r.startedAt), a.complete, a.writeMode,
    a.inputsHash, coalesce([(k:Artifact)-[:FEEDS]->(a) | k.urn][0], '')]
  ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT $limit
} AS partial, COLLECT {
  MATCH (:Dataset {urn: dataset})<-[:DROPPED]-(r:PipelineRun)
  WHERE r.status = 'COMPLETE' AND r.finishedAt IS NOT NULL
  RETURN [r.urn, r.finishedAt]
} AS drops
