// Return a page of runs, newest start first, from the index of namespace, status and start. Runs
// without events of their own have no start and are not listed. $since is inclusive, $until is
// exclusive. $cursorTime and $cursorUrn are the last row of the page before. $visible: the
// namespaces in which all jobs of a run must lie; null: any.
// access: read
// params: $namespaces LIST<STRING>, $statuses LIST<STRING>, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $visible LIST<STRING> = null, $cursorTime DATETIME,
//   $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, at, properties
// example: headwater runs
UNWIND $namespaces AS namespace
UNWIND $statuses AS status
CALL (namespace, status) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, status, startedAt)
  WHERE r.namespace = namespace AND r.status = status
    AND r.startedAt >= $since AND r.startedAt < $until AND r.startedAt <= $cursorTime
    AND NOT (r.startedAt = $cursorTime AND r.urn <= $cursorUrn)
    AND ($owner = '' OR EXISTS { (r)-[:RUN_OF]->(j:Job) WHERE $owner IN j.owners })
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE NOT other.namespace IN $visible })
  RETURN r ORDER BY r.namespace DESC, r.status DESC, r.startedAt DESC, r.urn LIMIT $limit
}
WITH r ORDER BY r.startedAt DESC, r.urn LIMIT $limit
RETURN r.urn AS urn, r.startedAt AS at, r {.*, facts: null} AS properties
ORDER BY at DESC, urn
