// Which version of a dataset was current at an instant for a run or an answer: the newest complete one, and beside it
// the newest that a failed or unfinished run left since. A run never reads the version it makes itself. Ordering by all
// that the index artifact_version holds lets the planner read it backwards and stop at the first row;
// named, because on the statistics of a young graph it would scan.
// access: read
// params: $rows LIST<MAP>
// returns: number, complete, partial
// example: run by the worker
UNWIND $rows AS row
WITH row, COLLECT {
  MATCH (a:Artifact)
  USING INDEX a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt <= row.at AND a.run <> row.consumer
  RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn DESC LIMIT 1
}[0] AS whole
WITH row, whole, coalesce(whole.createdAt, datetime({year: 0})) AS since
RETURN row.number AS number, whole.urn AS complete, COLLECT {
  MATCH (a:Artifact)
  USING INDEX a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = false AND a.createdAt > since AND a.createdAt <= row.at
    AND a.run <> row.consumer
  RETURN a.urn ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC, a.urn DESC LIMIT 1
}[0] AS partial
