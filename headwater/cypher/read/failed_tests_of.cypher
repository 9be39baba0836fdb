// The runs that tested some versions or sources and saw tests fail.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: version, name, capturedAt, run, at, testsFailed, testsPassed, failedTests
// example: headwater cypher read/failed_tests_of --param urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (v:Artifact {urn: urn}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: urn}) RETURN v
}
MATCH (v)-[:FEEDS]->(t:PipelineRun)
WHERE t.testsFailed > 0
RETURN urn AS version, v.name AS name, v.capturedAt AS capturedAt, t.urn AS run, t.startedAt AS at,
  t.testsFailed AS testsFailed, t.testsPassed AS testsPassed, t.failedTests AS failedTests
ORDER BY version, at, run
LIMIT $limit
