// Count the runs that read/lists/tagged_runs lists on all pages, by the same index.
// access: read
// params: $namespaces LIST<STRING>, $statuses LIST<STRING>, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $tag STRING, $visible LIST<STRING> = null
// returns: count
// example: headwater runs --tag backfill
UNWIND $namespaces AS namespace
UNWIND $statuses AS status
CALL (namespace, status) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, status, startedAt, tags)
  WHERE r.namespace = namespace AND r.status = status
    AND r.startedAt >= $since AND r.startedAt < $until
    AND r.tags IS NOT NULL
    AND any(t IN r.tags WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '=')
    AND ($owner = '' OR EXISTS { (r)-[:RUN_OF]->(j:Job) WHERE $owner IN j.owners })
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE NOT other.namespace IN $visible })
  RETURN count(*) AS runs
}
RETURN sum(runs) AS count
