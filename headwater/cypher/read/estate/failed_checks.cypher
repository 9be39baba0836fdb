// Return the newest reports of failed checks by visible runs, with the reported assertions as JSON
// or the names of the failed tests, and by events of datasets. Reports about hidden datasets are
// left out. A report is of one version, or of a dataset without `run`. This is a scan of the few
// reports of quality, by their indexes.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 2000
// returns: at, run, version, dataset, assertions, tests
// example: headwater failed-checks --since 2026-01-01
CALL () {
  MATCH (v:Artifact|Source)-[e:FEEDS]->(r:PipelineRun)
  USING INDEX e:FEEDS(qualityDataset, reportedAt)
  WHERE e.qualityDataset IS NOT NULL AND e.reportedAt >= $since AND e.reportedAt < $until
    AND e.failedChecks IS NOT NULL
  WITH r, e, v ORDER BY coalesce(v.complete, true) DESC, v.urn
  WITH r, e.qualityDataset AS dataset, collect({e: e, v: v})[0] AS first
  RETURN r, first.e.reportedAt AS at, first.v AS v, dataset,
    first.v.namespace AS namespace, first.e.assertions AS assertions, null AS tests
  UNION ALL
  MATCH (v:Artifact)<-[e:PRODUCED]-(r:PipelineRun)
  USING INDEX e:PRODUCED(qualityDataset, reportedAt)
  WHERE e.qualityDataset IS NOT NULL AND e.reportedAt >= $since AND e.reportedAt < $until
    AND e.failedChecks IS NOT NULL
  RETURN r, e.reportedAt AS at, v, e.qualityDataset AS dataset, v.namespace AS namespace,
    e.assertions AS assertions, null AS tests
  UNION ALL
  MATCH (r:PipelineRun)
  USING INDEX r:PipelineRun(testsFailed)
  WHERE r.testsFailed > 0
  WITH r, coalesce(r.finishedAt, r.lastSeen) AS at
  WHERE at >= $since AND at < $until
  OPTIONAL MATCH (r)<-[:FEEDS]-(v:Artifact|Source)
  RETURN r, at, v, v.dataset AS dataset, v.namespace AS namespace, null AS assertions,
    r.failedTests AS tests
  UNION ALL
  MATCH (d:Dataset)
  USING INDEX d:Dataset(checksFailed)
  WHERE d.checksFailed > 0 AND d.checkedAt >= $since AND d.checkedAt < $until
  RETURN null AS r, d.checkedAt AS at, null AS v, d.urn AS dataset, d.namespace AS namespace,
    null AS assertions, null AS tests
}
WITH r, at, v, dataset, namespace, assertions, tests
WHERE $visible IS NULL OR ((r IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  AND (namespace IS NULL OR any(p IN $visible WHERE namespace =~ p)))
RETURN at, r.urn AS run, v.urn AS version, dataset, assertions, tests
ORDER BY at DESC, run, dataset, version
LIMIT $limit
