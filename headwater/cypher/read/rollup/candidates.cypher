// Return a page of the runs that began before an instant, newest first, with the properties that
// decide how long their detail is kept.
// access: read
// params: $before DATETIME, $cursorAt DATETIME, $cursorUrn STRING = "", $limit INTEGER = 5000
// returns: urn, startedAt, lastSeen, status, runId, namespaces, versions
// example: run by `headwater pipeline rollup`
MATCH (r:PipelineRun)
WHERE r.startedAt < $before AND r.startedAt <= $cursorAt
  AND NOT (r.startedAt = $cursorAt AND r.urn <= $cursorUrn)
WITH r ORDER BY r.startedAt DESC, r.urn LIMIT $limit
RETURN r.urn AS urn, r.startedAt AS startedAt, coalesce(r.lastSeen, r.finishedAt) AS lastSeen,
  r.status AS status,
  r.runId AS runId, [(r)-[:RUN_OF]->(j:Job) | j.namespace] AS namespaces,
    COUNT { (r)-[:PRODUCED]->() } AS versions
