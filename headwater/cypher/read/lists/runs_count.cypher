// Count the runs that read/lists/runs lists on all pages. The index gives the runs of the visible
// namespaces without reading nodes. Runs that have a hidden job as well are subtracted: the edge to
// a job of another namespace has `indexedUnder`, and so is in an index of its own. That is a scan
// over these few edges.
// access: read
// params: $namespaces LIST<STRING>, $statuses LIST<STRING>, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $visible LIST<STRING> = null
// returns: count
// example: headwater runs
UNWIND $namespaces AS namespace
UNWIND $statuses AS status
CALL (namespace, status) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, status, startedAt)
  WHERE r.namespace = namespace AND r.status = status
    AND r.startedAt >= $since AND r.startedAt < $until
    AND ($owner = '' OR EXISTS { (r)-[:RUN_OF]->(j:Job) WHERE $owner IN j.owners })
  RETURN count(*) AS runs
}
WITH sum(runs) AS runs
WITH runs, CASE WHEN $visible IS NULL THEN [] ELSE [$visible] END AS restrictions
CALL (restrictions) {
  UNWIND restrictions AS visible
  MATCH (r:PipelineRun)-[e:RUN_OF]->(other:Job)
  USING INDEX e:RUN_OF(indexedUnder)
  WHERE e.indexedUnder IS NOT NULL AND NOT other.namespace IN visible
    AND r.namespace IN $namespaces AND r.status IN $statuses
    AND r.startedAt >= $since AND r.startedAt < $until
    AND ($owner = '' OR EXISTS { (r)-[:RUN_OF]->(j:Job) WHERE $owner IN j.owners })
  RETURN count(DISTINCT r) AS hidden
}
RETURN runs - hidden AS count
