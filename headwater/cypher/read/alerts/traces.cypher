// Return the trace ids of the given runs, and of the runs that wrote the given versions.
// access: read
// params: $urns LIST<STRING>
// returns: run, traceIds
// example: run by `headwater detect`
UNWIND $urns AS urn
CALL (urn) {
  MATCH (r:PipelineRun {urn: urn}) RETURN r
  UNION
  MATCH (:Artifact {urn: urn})<-[:PRODUCED]-(r:PipelineRun) RETURN r
}
WITH DISTINCT r
WHERE r.traceIds IS NOT NULL
RETURN r.urn AS run, r.traceIds AS traceIds
ORDER BY run
