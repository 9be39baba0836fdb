// Return the daily run summaries of a job, newest first.
// access: read
// params: $job STRING, $limit INTEGER = 1000
// returns: properties
// example: headwater cypher read/rollup/summaries --param job=URN
MATCH (s:RunSummary)-[:SUMMARY_OF]->(:Job {urn: $job})
RETURN properties(s) AS properties
ORDER BY s.day DESC, s.urn
LIMIT $limit
