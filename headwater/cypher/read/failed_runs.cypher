// Failed runs, newest failure first, a page at a time: since is inclusive, until is not; cursorAt and cursorUrn are
// the last row of the page before.
// access: read
// params: $since DATETIME, $until DATETIME, $pipeline STRING = "", $cursorAt DATETIME, $cursorUrn STRING = "", $limit
//   INTEGER = 20
// returns: urn, failedAt, properties
// example: headwater failed-runs
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until AND r.failedAt <= $cursorAt
  AND (r.failedAt < $cursorAt OR r.urn > $cursorUrn)
  AND ($pipeline = '' OR r.pipelineName = $pipeline)
RETURN r.urn AS urn, r.failedAt AS failedAt, r {.*, facts: null} AS properties
ORDER BY r.failedAt DESC, r.urn
LIMIT $limit
