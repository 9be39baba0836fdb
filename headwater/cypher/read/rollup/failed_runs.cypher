// Return a page of failed runs, oldest failure first.
// access: read
// params: $cursorAt DATETIME, $cursorUrn STRING = "", $limit INTEGER = 500
// returns: urn, failedAt
// example: run by `headwater pipeline rollup`
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $cursorAt
  AND NOT (r.failedAt = $cursorAt AND r.urn <= $cursorUrn)
RETURN r.urn AS urn, r.failedAt AS failedAt
ORDER BY r.status, r.failedAt, r.urn
LIMIT $limit
