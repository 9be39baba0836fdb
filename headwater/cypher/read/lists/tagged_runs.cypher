// Return a page of the runs with a tag, newest start first, from the index of namespace, status,
// start and tags, which holds tagged runs only. Apart from the tag it is like `runs`.
// access: read
// params: $namespaces LIST<STRING>, $statuses LIST<STRING>, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $tag STRING, $visible LIST<STRING> = null,
//   $cursorTime DATETIME, $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, at, properties
// example: headwater runs --tag backfill
UNWIND $namespaces AS namespace
UNWIND $statuses AS status
CALL (namespace, status) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, status, startedAt, tags)
  WHERE r.namespace = namespace AND r.status = status
    AND r.startedAt >= $since AND r.startedAt < $until AND r.startedAt <= $cursorTime
    AND NOT (r.startedAt = $cursorTime AND r.urn <= $cursorUrn)
    AND ($owner = '' OR EXISTS { (r)-[:RUN_OF]->(j:Job) WHERE $owner IN j.owners })
    AND r.tags IS NOT NULL
    AND any(t IN r.tags WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '=')
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE NOT other.namespace IN $visible })
  RETURN r ORDER BY r.namespace DESC, r.status DESC, r.startedAt DESC, r.urn LIMIT $limit
}
WITH r ORDER BY r.startedAt DESC, r.urn LIMIT $limit
RETURN r.urn AS urn, r.startedAt AS at, r {.*, facts: null} AS properties
ORDER BY at DESC, urn
