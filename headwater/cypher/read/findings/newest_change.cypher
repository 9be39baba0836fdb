// Return the time of the newest write of a run, by the clock of Neo4j.
// access: read
// params: none
// returns: at
// example: headwater cypher read/findings/newest_change
MATCH (r:PipelineRun)
WHERE r.changedAt IS NOT NULL
RETURN r.changedAt AS at
ORDER BY at DESC
LIMIT 1
