// Return the code versions that a pipeline ran with: the number of runs of each, the first and last
// start, and the number of failures.
// access: read
// params: $pipeline STRING, $limit INTEGER = 100
// returns: version, runs, failed, firstStarted, lastStarted
// example: headwater cypher code_versions --param pipeline=nyc_flights
MATCH (j:Job {name: $pipeline})<-[:RUN_OF]-(r:PipelineRun)
RETURN coalesce(r.version, '(not said)') AS version, count(*) AS runs,
  count(CASE WHEN r.status = 'FAIL' THEN 1 END) AS failed,
  min(r.startedAt) AS firstStarted, max(r.startedAt) AS lastStarted
ORDER BY lastStarted DESC, version
LIMIT $limit
