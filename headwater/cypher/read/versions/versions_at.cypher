// Return the version of a dataset that was current for a run or an answer at an instant. This is
// the newest complete version. Beside it, the newest version that a failed or unfinished run left
// since is returned. Without either, the first version that was being written at the instant is
// returned. A run never reads its own versions. The statement first finds the instant, backwards in
// the order of the index artifact_version, and stops at the first row. It names the index, because
// the planner would scan with the statistics of a young graph. It then finds the version of that
// instant. A version that took more than an hour to write has `longRunningSince`; any other version
// being written at an instant was ready within the hour.
// access: read
// params: $rows LIST<MAP>
// returns: number, complete, partial, begun
// example: run by the worker
UNWIND $rows AS row
WITH row, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt <= row.at
    AND NOT (a)<-[:PRODUCED]-({urn: row.consumer})
  RETURN a.createdAt ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS whole
WITH row, whole, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = false
    AND a.createdAt > coalesce(whole, datetime({year: 0}))
    AND a.createdAt <= row.at AND NOT (a)<-[:PRODUCED]-({urn: row.consumer})
  RETURN a.createdAt ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS left
RETURN row.number AS number, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt = whole
    AND NOT (a)<-[:PRODUCED]-({urn: row.consumer})
  RETURN a.urn ORDER BY a.urn DESC LIMIT 1
}[0] AS complete, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = false AND a.createdAt = left
    AND NOT (a)<-[:PRODUCED]-({urn: row.consumer})
  RETURN a.urn ORDER BY a.urn DESC LIMIT 1
}[0] AS partial, COLLECT {
  UNWIND CASE WHEN whole IS NULL AND left IS NULL THEN [row.at] ELSE [] END AS at
  CALL (row, at) {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = row.dataset AND a.complete IN [true, false] AND a.createdAt > at
      AND a.createdAt <= at + duration({hours: 1})
      AND coalesce(a.startedAt, [(r:PipelineRun)-[:PRODUCED]->(a) | r.startedAt][0]) <= at
    RETURN a AS version
    UNION
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, longRunningSince)
    WHERE a.dataset = row.dataset AND a.longRunningSince <= at AND a.createdAt > at
    RETURN a AS version
  }
  WITH version WHERE NOT (version)<-[:PRODUCED]-({urn: row.consumer})
  RETURN version.urn ORDER BY version.createdAt, version.urn LIMIT 1
}[0] AS begun
