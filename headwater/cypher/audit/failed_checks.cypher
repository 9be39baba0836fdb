// Return failed data quality checks, newest first: assertions that a run reported about a dataset
// that it read or wrote, failed tests of a run (for each dataset that it read), and checks that an
// event of the dataset itself reported. The column is empty for a check of the whole dataset; a
// test of a run has its column, if any, at the end of its name. This is a scan of the few reports
// of quality, by their indexes.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $until DATETIME = "9999-01-01T00:00:00Z",
//   $namespace STRING = "", $dataset STRING = "", $column STRING = "", $check STRING = "", $runId
//   STRING = "", $limit INTEGER = 100
// returns: reportedAt, namespace, dataset, column, check, pipeline, runId, version
// example: headwater cypher failed_checks --param since=2026-01-01
CALL () {
  MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
  USING INDEX e:FEEDS(qualityDataset, reportedAt)
  WHERE e.qualityDataset IS NOT NULL AND e.reportedAt >= $since AND e.reportedAt < $until
    AND e.failedChecks IS NOT NULL
  // A run that read a complete version and a later incomplete one reports once for both.
  WITH r, e, v ORDER BY coalesce(v.complete, true) DESC, v.urn
  WITH r, e.qualityDataset AS read, collect({e: e, v: v})[0] AS first
  RETURN r, first.e.reportedAt AS at, first.v AS v, first.e.failedChecks AS checks,
    first.e.failedColumns AS columns
  UNION ALL
  MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
  USING INDEX e:PRODUCED(qualityDataset, reportedAt)
  WHERE e.qualityDataset IS NOT NULL AND e.reportedAt >= $since AND e.reportedAt < $until
    AND e.failedChecks IS NOT NULL
  RETURN r, e.reportedAt AS at, v, e.failedChecks AS checks, e.failedColumns AS columns
  UNION ALL
  MATCH (r:PipelineRun)
  USING INDEX r:PipelineRun(testsFailed)
  WHERE r.testsFailed > 0
  WITH r, coalesce(r.finishedAt, r.lastSeen) AS at, COLLECT {
    MATCH (r)<-[e:FEEDS]-(:Artifact|Source)
    WHERE e.failedChecks IS NOT NULL
    UNWIND range(0, size(e.failedChecks) - 1) AS i
    RETURN e.failedChecks[i] + CASE e.failedColumns[i] WHEN '' THEN '' ELSE '.' END
      + e.failedColumns[i]
  } AS asserted
  WHERE at >= $since AND at < $until
  WITH r, at, [test IN r.failedTests WHERE NOT test IN asserted] AS checks
  WHERE checks <> []
  OPTIONAL MATCH (r)<-[:FEEDS]-(v:Artifact|Source)
  RETURN r, at, v, checks, [test IN checks | ''] AS columns
  UNION ALL
  MATCH (d:Dataset)
  USING INDEX d:Dataset(checksFailed)
  WHERE d.checksFailed > 0 AND d.checkedAt >= $since AND d.checkedAt < $until
  RETURN null AS r, d.checkedAt AS at, d AS v, d.failedChecks AS checks,
    d.failedColumns AS columns
}
WITH r, at, v, checks, columns
WHERE ($namespace = '' OR v.namespace = $namespace) AND ($dataset = '' OR v.name = $dataset)
  AND ($runId = '' OR r.runId = $runId)
UNWIND range(0, size(checks) - 1) AS i
WITH r, at, v, checks[i] AS check, columns[i] AS column
WHERE ($check = '' OR check = $check) AND ($column = '' OR column = $column)
RETURN at AS reportedAt, v.namespace AS namespace, v.name AS dataset, column, check,
  r.pipelineName AS pipeline, r.runId AS runId,
  CASE WHEN NOT v:Dataset THEN v.urn END AS version
ORDER BY reportedAt DESC, namespace, dataset, check, column, runId, version
LIMIT $limit
