// Count the failed runs of each pipeline in a time window, by the index of failures; the pipelines
// with the most come first. $since is inclusive, $until is exclusive. $visible: the visible
// namespaces, as regular expressions; null: all.
// access: read
// params: $since DATETIME, $until DATETIME, $namespace STRING = "", $visible LIST<STRING> = null,
//   $limit INTEGER = 10000
// returns: namespace, name, failed, first, last, newest
// example: headwater cypher read/failures/failing_pipelines --param since=2026-01-01T00:00:00Z
//   --param until=2027-01-01T00:00:00Z
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until
  AND ($namespace = '' OR r.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
WITH r ORDER BY r.failedAt DESC, r.urn
WITH r.namespace AS namespace, r.pipelineName AS name, collect(r.urn)[0] AS newest,
  count(r) AS failed, min(r.failedAt) AS first, max(r.failedAt) AS last
WHERE namespace IS NOT NULL AND name IS NOT NULL
RETURN namespace, name, failed, first, last, newest
ORDER BY failed DESC, last DESC, namespace, name
LIMIT $limit
