// A page of all jobs, those seen last first, and how many there are; with `states`, of those whose newest run is in one.
// Scans all jobs.
// access: read
// params: $sees LIST<STRING>, $states LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/jobs_newest --param sees=null --param states=null
MATCH (j:Job)
WHERE ($sees IS NULL OR any(p IN $sees WHERE j.namespace =~ p)) AND ($states IS NULL OR COLLECT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j) RETURN r.status ORDER BY r.startedAt DESC, r.urn LIMIT 1
}[0] IN $states)
WITH j ORDER BY coalesce(j.lastSeen, datetime({epochSeconds: 0})) DESC, j.urn
WITH collect(j.urn) AS found
RETURN found[$skip..$skip + $limit] AS urns, size(found) AS total
