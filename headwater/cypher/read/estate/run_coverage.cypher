// Count by namespace the runs that began in a time window, and those that ended, wrote outputs or
// reported the inputs of an output. Runs whose producer reports no end are not counted.
// access: read
// params: $namespace STRING = "", $since DATETIME, $until DATETIME, $visible LIST<STRING> = null,
//   $limit INTEGER = 5000
// returns: namespace, counts
// example: headwater coverage --days 30
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.endUnreported IS NULL
  AND ($namespace = '' OR r.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
WITH r, EXISTS { (r)-[:PRODUCED]->(:Artifact) } AS has_outputs,
  EXISTS { MATCH (r)-[:PRODUCED]->(a:Artifact) WHERE a.derivedFrom IS NOT NULL OR a.explicit
    OR EXISTS { (a)-[:DERIVED_FROM]->() } } AS reports
WITH r.namespace AS namespace, count(r) AS runs,
  count(CASE WHEN r.status IN ['COMPLETE', 'FAIL', 'ABORT'] THEN 1 END) AS ended,
  count(CASE WHEN has_outputs THEN 1 END) AS runs_with_outputs,
    count(CASE WHEN reports THEN 1 END) AS reported
RETURN namespace, {runs: runs, ended: ended, runs_with_outputs: runs_with_outputs,
  reported: reported} AS counts
ORDER BY namespace
LIMIT $limit
