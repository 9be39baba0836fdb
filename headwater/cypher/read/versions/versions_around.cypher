// Return the versions of datasets around instants: from the newest complete version before an
// instant to the complete one that is the given number after it, or to the last version. Each comes
// with the version whose content it kept. The order is that of the index artifact_version. The
// statement names the index, because the planner would scan with the statistics of a young graph.
// access: read
// params: $rows LIST<MAP>, $ahead INTEGER = 1
// returns: dataset, at, versions
// example: run by the worker
UNWIND $rows AS row
WITH row, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt < row.at
  RETURN a.createdAt ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS before, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt > row.at
  RETURN a.createdAt ORDER BY a.dataset, a.complete, a.createdAt SKIP $ahead - 1 LIMIT 1
}[0] AS after
RETURN row.dataset AS dataset, row.at AS at, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete IN [true, false]
    AND a.createdAt >= coalesce(before, datetime({year: 1}))
    AND a.createdAt <= coalesce(after, datetime({year: 9999}))
  WITH a, [(r:PipelineRun)-[:PRODUCED]->(a) | r][0] AS r
  RETURN [a.createdAt, a.urn, r.urn, coalesce(a.startedAt, r.startedAt), a.complete, a.writeMode,
    a.inputsHash, coalesce([(k:Artifact)-[:FEEDS]->(a) | k.urn][0], '')]
} AS versions
