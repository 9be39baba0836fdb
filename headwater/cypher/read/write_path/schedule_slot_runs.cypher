// Return the runs of the given schedule slots in the order of their starts, with their attempt
// properties. For each slot, these are its first runs and the runs that counted as such before.
// access: read
// params: $slots LIST<STRING>, $limit INTEGER = 100
// returns: slot, urn, startedAt, finishedAt, attempt, retried, previous
// example: run by the worker
UNWIND $slots AS slot
CALL (slot) {
  MATCH (r:PipelineRun {slot: slot})
  WHERE r.startedAt IS NOT NULL
  RETURN r ORDER BY r.startedAt, r.urn LIMIT $limit
  UNION
  MATCH (r:PipelineRun {slot: slot})
  WHERE r.attempt IS NOT NULL AND r.startedAt IS NOT NULL
  RETURN r
}
RETURN slot, r.urn AS urn, r.startedAt AS startedAt, r.finishedAt AS finishedAt,
  r.attempt AS attempt,
  r.retried AS retried, COLLECT { MATCH (r)-[:RETRY_OF]->(p:PipelineRun) RETURN p.urn }[0]
    AS previous
ORDER BY slot, startedAt, urn
