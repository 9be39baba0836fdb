// Return a page of failed runs, newest failure first. $since is inclusive, $until is exclusive.
// $cursorTime and $cursorUrn are the last row of the page before. $visible: the visible namespaces,
// as regular expressions; null: all.
// access: read
// params: $since DATETIME, $until DATETIME, $pipeline STRING = "", $namespace STRING = "",
//   $cursorTime DATETIME, $cursorUrn STRING = "", $visible LIST<STRING> = null,
//   $limit INTEGER = 20
// returns: urn, at, properties
// example: headwater failed-runs
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until
  AND r.failedAt <= $cursorTime AND NOT (r.failedAt = $cursorTime AND r.urn <= $cursorUrn)
  AND ($pipeline = '' OR r.pipelineName = $pipeline)
  AND ($namespace = '' OR r.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
RETURN r.urn AS urn, r.failedAt AS at, r {.*, facts: null} AS properties
ORDER BY r.failedAt DESC, r.urn
LIMIT $limit
