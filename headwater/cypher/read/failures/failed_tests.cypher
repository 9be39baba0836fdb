// Return the runs in which tests of the given versions or sources failed, for each at most the
// thousand with the latest events.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: version, name, capturedAt, run, at, testsFailed, testsPassed, failedTests
// example: headwater cypher read/failures/failed_tests --param urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (v:Artifact|Source)-[e:FEEDS]->(t:PipelineRun)
  USING INDEX SEEK e:FEEDS(failingVersion, reportedAt)
  WHERE e.failingVersion = urn AND e.reportedAt IS NOT NULL
  RETURN v, t ORDER BY e.failingVersion DESC, e.reportedAt DESC LIMIT 1000
}
RETURN urn AS version, v.name AS name, v.capturedAt AS capturedAt, t.urn AS run, t.startedAt AS at,
  t.testsFailed AS testsFailed, t.testsPassed AS testsPassed, t.failedTests AS failedTests
ORDER BY version, at, run
LIMIT $limit
